/** States of clips: words, icon and color. Never color alone. */
import type { StatusKind, FilmState } from "../data/types";

export const STATE_TEXT: Record<StatusKind, { label: string; tile: string }> = {
  done: { label: "done", tile: "No file" },
  reused: { label: "reused", tile: "No file" },
  "in-flight": { label: "in flight", tile: "In flight" },
  submitting: { label: "submitting", tile: "Submitting" },
  downloading: { label: "downloading", tile: "Downloading" },
  "waiting-for-retry": { label: "waiting for retry", tile: "Waits for its next attempt" },
  waiting: { label: "waiting", tile: "Waits to be submitted" },
  pending: { label: "pending", tile: "Waits for other shots" },
  "claimed-by-other-run": { label: "claimed by another run", tile: "Another run submits it" },
  detached: { label: "detached", tile: "Left to a later run" },
  "at-other-service": { label: "at another service", tile: "At another service" },
  indeterminate: { label: "indeterminate", tile: "Outcome unknown" },
  missing: { label: "missing", tile: "Missing at the service" },
  unrecorded: { label: "unrecorded", tile: "Video not recorded" },
  failed: { label: "failed", tile: "Failed" },
  blocked: { label: "blocked", tile: "Blocked by another shot" },
  unpicked: { label: "unpicked", tile: "Waits for a pick" },
  "not-started": { label: "not started", tile: "Not started" },
  "not-selected": { label: "not selected", tile: "Not selected" },
};

export const FILM_TEXT: Record<FilmState, string> = {
  done: "joined",
  pending: "waits for its clips",
  unpicked: "waits for a pick",
  "not-joined": "not joined yet: the next run joins it",
  failed: "joining it failed",
};

const CHECK = "M3.5 8.5l3 3 6-7";
const CLOCK = "M8 2.5a5.5 5.5 0 1 1-5.5 5.5M8 5v3l2 1.5";
const DOTS = "M4 8h.1M8 8h.1M12 8h.1";
const CIRCLE = "M3.5 8a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0";

const ICONS: Record<StatusKind, string> = {
  done: CHECK,
  reused: CHECK,
  "in-flight": CLOCK,
  submitting: CLOCK,
  downloading: CLOCK,
  "waiting-for-retry": DOTS,
  waiting: DOTS,
  pending: DOTS,
  "claimed-by-other-run": CLOCK,
  detached: CLOCK,
  "at-other-service": CLOCK,
  indeterminate: "M5.8 6a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.5M8 12.2v.1",
  missing: "M8 3v6.5M8 12.4v.1",
  unrecorded: "M5.8 6a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.5M8 12.2v.1",
  failed: "M4.5 4.5l7 7m0-7l-7 7",
  blocked: "M3.5 8a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0m1.4-3.1l6.2 6.2",
  unpicked: "M8 2.5l5.5 5.5-5.5 5.5-5.5-5.5z",
  "not-started": CIRCLE,
  "not-selected": CIRCLE,
};

export function StateIcon({ state }: { state: StatusKind }) {
  return (
    <svg class={`icon state-icon state-${state}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={ICONS[state]} />
    </svg>
  );
}

export function StateBadge({ state }: { state: StatusKind }) {
  return (
    <span class={`badge state-${state}`}>
      <StateIcon state={state} />
      {STATE_TEXT[state].label}
    </span>
  );
}
