/** Which dialog is open: one at a time. */
import { signal } from "@preact/signals";

export type OpenDialog =
  /** `only` and `rerun` are names of clips; without them everything that is missing is rendered. */
  | { kind: "run"; only?: string[]; rerun?: string[] }
  | { kind: "edit"; shot: string }
  | { kind: "resolve"; attempt: string; clip: string };

export const dialog = signal<OpenDialog | null>(null);

export function openDialog(next: OpenDialog): void {
  dialog.value = next;
}

export function closeDialog(): void {
  dialog.value = null;
}
