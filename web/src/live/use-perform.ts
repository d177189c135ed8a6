/** Starts actions and keeps what went wrong. */
import { useState } from "preact/hooks";
import { announce } from "../state/store";
import type { Action } from "./protocol";
import { ActionError, perform } from "./server";
import { messageOf } from "./use-preview";

export interface Performing {
  busy: boolean;
  problem: string | null;
  start: (action: Action, then?: () => void) => void;
  /** How often the server has refused an action because the file that it refers to has changed. */
  changes: number;
}

export function usePerform(): Performing {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [changes, setChanges] = useState(0);
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
        if (error instanceof ActionError && error.code === "changed") setChanges((before) => before + 1);
        announce(messageOf(error));
      },
    );
  };
  return { busy, problem, start, changes };
}
