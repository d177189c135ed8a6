/**
 * The wall is built of blocks of rows. The browser skips blocks that are out of view when it lays out, paints and looks for images to load; their
 * cards stay in the document, so that searching in the page, the order of focus and printing are those of a plain list.
 */
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/** A screen has about as many: fewer cost more bookkeeping, more take longer at once when they come into view. */
export const ROWS_PER_BLOCK = 4;

/** How many cards stand side by side. Tells the style sheet how high a block is before it has been laid out. */
export function useColumns(list: RefObject<HTMLElement | null>, hasCards: boolean): number {
  const [columns, setColumns] = useState(6);
  useLayoutEffect(() => {
    const root = list.current;
    if (root === null || !hasCards) return;
    const measure = () => {
      const block = root.querySelector(".wall-block");
      const card = block?.querySelector(".card");
      if (!block || !card) return;
      const { gridTemplateColumns, rowGap } = getComputedStyle(block);
      setColumns(gridTemplateColumns.split(" ").length);
      const gap = Number.parseFloat(rowGap);
      root.style.setProperty("--block-height", `${ROWS_PER_BLOCK * (card.getBoundingClientRect().height + gap) - gap}px`);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(root);
    measure();
    return () => observer.disconnect();
  }, [list, hasCards]);
  return columns;
}
