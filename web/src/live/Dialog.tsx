/** A modal dialog: closes with Escape, its button, or a click beside it. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../components/Icon";
import { closeDialog } from "./open-dialog";

interface Props {
  title: string;
  children: ComponentChildren;
}

export function Dialog({ title, children }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    ref.current?.showModal();
  }, []);
  return (
    <dialog ref={ref} class="dialog" aria-labelledby="dialog-title" onClose={closeDialog} onPointerDown={(event) => event.target === ref.current && ref.current?.close()}>
      <div class="dialog-body">
        <div class="panel-head">
          <h2 id="dialog-title" dir="auto">{title}</h2>
          <button type="button" class="button icon-only end" aria-label="Close" onClick={() => ref.current?.close()}><Icon name="close" /></button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
