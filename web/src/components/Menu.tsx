/** A list of options of which several can be chosen: a disclosure with checkboxes. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface Option {
  key: string;
  label: string;
  count?: number;
}

interface Props {
  label: string;
  options: Option[];
  chosen: string[];
  onChange: (keys: string[]) => void;
}

/** Options that are listed; more are reached by search. */
const MAX_OPTIONS = 200;

export function Menu({ label, options, chosen, onChange }: Props) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!open) return;
    const close = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener("pointerdown", close);
    addEventListener("focusin", close);
    return () => {
      removeEventListener("pointerdown", close);
      removeEventListener("focusin", close);
    };
  }, [open]);
  const labelOf = (key: string) => options.find((option) => option.key === key)?.label ?? key;
  return (
    <div
      ref={root}
      class="menu"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !open) return;
        event.preventDefault();
        setOpen(false);
        root.current?.querySelector("button")?.focus();
      }}
    >
      <button type="button" class={`button${chosen.length > 0 ? " active" : ""}`} aria-expanded={open} onClick={() => setOpen(!open)}>
        {label}
        {chosen.length > 0 && <span class="menu-value" dir="auto">{chosen.length === 1 ? labelOf(chosen[0] ?? "") : chosen.length}</span>}
      </button>
      {open && (
        <div class="menu-list" role="group" aria-label={label}>
          {options.slice(0, MAX_OPTIONS).map((option) => (
            <label key={option.key} class="menu-option">
              <input
                type="checkbox"
                checked={chosen.includes(option.key)}
                onChange={(event) => onChange(event.currentTarget.checked ? [...chosen, option.key] : chosen.filter((key) => key !== option.key))}
              />
              <span dir="auto">{option.label}</span>
              {option.count !== undefined && <span class="dim num end">{option.count}</span>}
            </label>
          ))}
          {options.length > MAX_OPTIONS && <p class="dim">{options.length - MAX_OPTIONS} more: use the search</p>}
        </div>
      )}
    </div>
  );
}
