/** States of clips: words, sign and color. Never color alone. */
import type { ClipState, FilmState } from "../data/types";

export const STATE_TEXT: Record<ClipState, { label: string; tile: string }> = {
  done: { label: "done", tile: "No file" },
  failed: { label: "failed", tile: "Failed" },
  "in-flight": { label: "in flight", tile: "In flight" },
  indeterminate: { label: "indeterminate", tile: "Outcome unknown" },
  missing: { label: "missing", tile: "Missing at the service" },
  blocked: { label: "blocked", tile: "Blocked by a failure" },
  waiting: { label: "waiting", tile: "Waiting" },
  unpicked: { label: "unpicked", tile: "Waits for a pick" },
  "not-run": { label: "not run", tile: "Not run" },
};

export const FILM_TEXT: Record<FilmState, string> = {
  done: "joined",
  waiting: "waits for its clips",
  unpicked: "waits for a pick",
  failed: "cannot be joined: a clip failed",
};

const SIGNS: Record<ClipState, string> = {
  done: "M3.5 8.5l3 3 6-7",
  failed: "M4.5 4.5l7 7m0-7l-7 7",
  "in-flight": "M8 2.5a5.5 5.5 0 1 1-5.5 5.5M8 5v3l2 1.5",
  indeterminate: "M5.8 6a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.5M8 12.2v.1",
  missing: "M8 3v6.5M8 12.4v.1",
  blocked: "M3.5 8a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0m1.4-3.1l6.2 6.2",
  waiting: "M4 8h.1M8 8h.1M12 8h.1",
  unpicked: "M8 2.5l5.5 5.5-5.5 5.5-5.5-5.5z",
  "not-run": "M3.5 8a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0",
};

export function StateIcon({ state }: { state: ClipState }) {
  return (
    <svg class={`icon sign state-${state}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={SIGNS[state]} />
    </svg>
  );
}

export function StateBadge({ state }: { state: ClipState }) {
  return (
    <span class={`badge state-${state}`}>
      <StateIcon state={state} />
      {STATE_TEXT[state].label}
    </span>
  );
}
