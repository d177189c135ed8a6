/** The preview of an action that changes while its dialog is open. */
import { useEffect, useState } from "preact/hooks";
import type { Action, Preview } from "./protocol";
import { ActionError, preview } from "./server";

/** Time without a change before the server is asked: typing is many changes. */
const DEBOUNCE_MS = 250;

export type PreviewState = { state: "none" } | { state: "loading"; last: Preview | null } | { state: "ready"; preview: Preview } | { state: "failed"; message: string };

/** Follows an action; `null` has no preview. Another `version` asks again. */
export function usePreview(action: Action | null, version = 0): PreviewState {
  const [state, setState] = useState<PreviewState>({ state: "none" });
  const text = action === null ? "" : JSON.stringify(action);
  useEffect(() => {
    if (text === "") {
      setState({ state: "none" });
      return;
    }
    let isCurrent = true;
    setState((before) => ({ state: "loading", last: before.state === "ready" ? before.preview : null }));
    const timer = setTimeout(() => {
      preview(JSON.parse(text) as Action).then(
        (answer) => isCurrent && setState({ state: "ready", preview: answer }),
        (error: unknown) => isCurrent && setState({ state: "failed", message: messageOf(error) }),
      );
    }, DEBOUNCE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text, version]);
  return state;
}

export function messageOf(error: unknown): string {
  return error instanceof ActionError ? error.message : String(error);
}
