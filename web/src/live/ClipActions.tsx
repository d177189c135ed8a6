/** What can be done with a clip where there is a server. */
import type { Clip } from "../data/types";
import { Icon } from "../components/Icon";
import { latestAttempt } from "../logic/attempts";
import { model } from "../state/store";
import { openDialog } from "./open-dialog";
import { isLive } from "./server";
import { usePerform } from "./use-perform";

export function ClipActions({ clip }: { clip: Clip }) {
  const performing = usePerform();
  if (!isLive.value) return null;
  const hasVideo = clip.file !== null;
  const attempt = clip.state === "indeterminate" ? latestAttempt(clip)?.attempt : undefined;
  return (
    <section class="actions" aria-label="Actions">
      <div class="row">
        <PickButton clip={clip} start={performing.start} busy={performing.busy} />
        {attempt !== undefined && <button type="button" class="button" onClick={() => openDialog({ kind: "resolve", attempt, clip: clip.id })}>Resolve…</button>}
        {hasVideo
          ? <button type="button" class="button" onClick={() => openDialog({ kind: "run", rerun: [clip.id.split("#", 1)[0] ?? clip.id] })}><Icon name="again" /> Render again…</button>
          : attempt === undefined && <button type="button" class="button" onClick={() => openDialog({ kind: "run", only: [clip.id] })}><Icon name="play" /> Render…</button>}
        <button type="button" class="button" onClick={() => openDialog({ kind: "edit", shot: clip.shot })}><Icon name="edit" /> Edit…</button>
      </div>
      {performing.problem !== null && <p class="failure output" role="alert" dir="auto">{performing.problem}</p>}
    </section>
  );
}

function PickButton({ clip, start, busy }: { clip: Clip; start: (action: { action: "pick"; shot: string; choice: string | null }) => void; busy: boolean }) {
  const siblings = model.value.clipsOfShot.get(clip.shot) ?? [];
  if (siblings.length < 2) return null;
  const choice = clip.is_picked ? null : clip.id;
  return (
    <button type="button" class={`button${clip.is_picked ? "" : " primary"}`} disabled={busy || (!clip.is_picked && clip.file === null)} onClick={() => start({ action: "pick", shot: clip.shot, choice })}>
      <Icon name={clip.is_picked ? "close" : "check"} /> {clip.is_picked ? "Remove the pick" : "Pick"}
    </button>
  );
}
