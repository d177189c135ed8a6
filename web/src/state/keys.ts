/** The keyboard: views bind keys while they are shown, and the list of keys is what is bound. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { singleKeys } from "./preferences";

export interface KeyBinding {
  /** `KeyboardEvent.key`, with `Shift+` where it is held. */
  keys: string[];
  label: string;
  run: (event: KeyboardEvent) => void;
}

export interface KeyGroup {
  name: string;
  bindings: KeyBinding[];
}

/** The groups that are bound, the latest first. */
export const keyGroups = signal<KeyGroup[]>([]);

/** Binds keys while the component is shown: from the moment that it is in the document, not from the next frame on, which a quick hand does not wait for. */
export function useKeys(name: string, bindings: KeyBinding[]): void {
  const latest = useRef(bindings);
  latest.current = bindings;
  useLayoutEffect(() => {
    const group: KeyGroup = {
      name,
      get bindings() {
        return latest.current;
      },
    };
    keyGroups.value = [group, ...keyGroups.value];
    return () => {
      keyGroups.value = keyGroups.value.filter((other) => other !== group);
    };
  }, [name]);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type);
}

/** Keys that a focused control uses itself. */
function isOwnKey(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("dialog[open]") !== null) return true;
  const activates = key === " " || key === "Enter";
  if (activates && target.closest("button, a, summary, input, label, video") !== null) return true;
  return key.startsWith("Arrow") && target.closest("video, [role=tablist]") !== null;
}

export function nameOf(event: KeyboardEvent): string {
  return event.shiftKey && event.key.length > 1 ? `Shift+${event.key}` : event.key;
}

export function listenToKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = nameOf(event);
    const typing = isTyping(event.target);
    const isRange = event.target instanceof HTMLInputElement && event.target.type === "range";
    if (typing && key !== "Escape" && !(isRange && key.length === 1 && key !== " ")) return;
    if (key.length === 1 && key !== " " && !singleKeys.value) return;
    if (isOwnKey(event.target, key)) return;
    for (const group of keyGroups.value) {
      const binding = group.bindings.find((each) => each.keys.includes(key));
      if (binding) {
        event.preventDefault();
        binding.run(event);
        return;
      }
    }
  });
}
