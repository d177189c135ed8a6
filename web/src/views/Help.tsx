/** The list of the keys that are bound now. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../components/Icon";
import { keyGroups } from "../state/keys";
import { setSingleKeys, singleKeys } from "../state/preferences";

const isOpen = signal(false);

export function openHelp(): void {
  isOpen.value = true;
}

const KEY_NAMES: Record<string, string> = { " ": "Space", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc" };

function keyName(key: string): string {
  return key.split("+").map((part) => KEY_NAMES[part] ?? part).join(" + ") || "+";
}

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = isOpen.value;
  useLayoutEffect(() => {
    if (open && dialog.current?.open === false) dialog.current.showModal();
    if (!open) dialog.current?.close();
  }, [open]);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={() => (isOpen.value = false)} onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
      <div class="help-body">
        <div class="panel-head">
          <h2 id="help-title">Keys</h2>
          <button type="button" class="button icon-only" aria-label="Close" onClick={() => dialog.current?.close()}><Icon name="close" /></button>
        </div>
        {open && keyGroups.value.map((group) => (
          <section key={group.name}>
            <h3>{group.name}</h3>
            <dl class="keys">
              {group.bindings.map((binding) => (
                <div key={binding.label}>
                  <dt>{binding.keys.map((key) => <kbd key={key}>{keyName(key)}</kbd>)}</dt>
                  <dd>{binding.label}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <label class="check-row">
          <input type="checkbox" checked={singleKeys.value} onChange={(event) => setSingleKeys(event.currentTarget.checked)} />
          Keys that are a single character
        </label>
      </div>
    </dialog>
  );
}
