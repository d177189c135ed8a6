/** What the browser remembers for this page. Without storage it is forgotten with the page. */
import { signal } from "@preact/signals";

const PREFIX = "runner-viewer.";

function read(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // Storage is off.
  }
}

export type Theme = "system" | "light" | "dark";

const stored = read("theme");
export const theme = signal<Theme>(stored === "light" || stored === "dark" ? stored : "system");
export const singleKeys = signal(read("single-keys") !== "off");

export function setTheme(next: Theme): void {
  theme.value = next;
  write("theme", next);
  applyTheme();
}

export function applyTheme(): void {
  if (theme.value === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset["theme"] = theme.value;
}

export function setSingleKeys(on: boolean): void {
  singleKeys.value = on;
  write("single-keys", on ? "on" : "off");
}

export const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
