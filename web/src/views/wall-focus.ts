/** The wall is one tab stop: arrow keys move between its cards. */
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

type Direction = "left" | "right" | "up" | "down";

/** The id of the clip on whose card an element is. */
export function cardOf(element: Element | null): string | null {
  return element?.closest<HTMLElement>("[data-clip]")?.dataset["clip"] ?? null;
}

/** Makes one card the only one in the tab order. */
function setCurrent(root: Element, card: Element): void {
  for (const other of root.querySelectorAll("[data-current]")) {
    if (other !== card) mark(other, false);
  }
  mark(card, true);
}

function mark(card: Element, current: boolean): void {
  card.toggleAttribute("data-current", current);
  for (const part of card.querySelectorAll<HTMLElement>("button, input")) part.tabIndex = current ? 0 : -1;
}

/** Keeps exactly one card in the tab order: the one that had the focus last, else the first. */
export function useRovingFocus(list: RefObject<HTMLElement | null>, ...content: unknown[]): void {
  useLayoutEffect(() => {
    const root = list.current;
    if (root === null) return;
    const enter = (event: FocusEvent) => {
      const card = event.target instanceof Element ? event.target.closest(".card") : null;
      if (card !== null) setCurrent(root, card);
    };
    root.addEventListener("focusin", enter);
    return () => root.removeEventListener("focusin", enter);
  }, [list]);
  useLayoutEffect(() => {
    const root = list.current;
    const card = root?.querySelector("[data-current]") ?? root?.querySelector(".card");
    if (root && card) setCurrent(root, card);
  }, [list, ...content]);
}

export function focusCard(root: HTMLElement | null, index: number): void {
  root?.querySelectorAll<HTMLElement>(".card-open")[index]?.focus();
}

export function moveFocus(root: HTMLElement | null, direction: Direction): void {
  if (root === null) return;
  const cards = [...root.querySelectorAll<HTMLElement>(".card-open")];
  const index = cards.findIndex((card) => card.closest(".card")?.contains(document.activeElement));
  if (index < 0) {
    (root.querySelector<HTMLElement>("[data-current] .card-open") ?? cards[0])?.focus();
    return;
  }
  const block = root.querySelector(".wall-block") ?? root;
  const columns = getComputedStyle(block).gridTemplateColumns.split(" ").length;
  const step = { left: -1, right: 1, up: -columns, down: columns }[direction];
  cards[Math.max(0, Math.min(cards.length - 1, index + step))]?.focus();
}
