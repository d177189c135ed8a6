/** Starts actions and keeps what went wrong. */
import { useState } from "preact/hooks";
import { announce } from "../state/store";
import type { Action } from "./protocol";
import { perform } from "./server";
import { messageOf } from "./use-preview";

export interface Performing {
  busy: boolean;
  problem: string | null;
  start: (action: Action, then?: () => void) => void;
}

export function usePerform(): Performing {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const start = (action: Action, then?: () => void) => {
    setBusy(true);
    setProblem(null);
    perform(action).then(
      () => {
        setBusy(false);
        then?.();
      },
      (error: unknown) => {
        setBusy(false);
        setProblem(messageOf(error));
        announce(messageOf(error));
      },
    );
  };
  return { busy, problem, start };
}
