/** What can be done with a clip: without a server, only what is copied. */
import type { Clip } from "../data/types";
import { Icon } from "../components/Icon";
import { latestAttempt } from "../logic/attempts";
import { openDialog } from "./open-dialog";
import { PickButton } from "./PickButton";
import { RatingButtons } from "./Rating";
import { isLive } from "./server";

export function ClipActions({ clip }: { clip: Clip }) {
  if (!isLive.value) return <PickButton clip={clip} />;
  const hasVideo = clip.file !== null;
  const attempt = clip.state === "indeterminate" ? latestAttempt(clip)?.attempt : undefined;
  return (
    <section class="actions" aria-label="Actions">
      <div class="row">
        <PickButton clip={clip} />
        {attempt !== undefined && <button type="button" class="button" onClick={() => openDialog({ kind: "resolve", attempt, clip: clip.id })}>Resolve…</button>}
        {hasVideo
          ? <button type="button" class="button" onClick={() => openDialog({ kind: "run", rerun: [clip.id.split("#", 1)[0] ?? clip.id] })}><Icon name="again" /> Render again…</button>
          : attempt === undefined && <button type="button" class="button" onClick={() => openDialog({ kind: "run", only: [clip.id] })}><Icon name="play" /> Render…</button>}
        <button type="button" class="button" onClick={() => openDialog({ kind: "edit", shot: clip.shot })}><Icon name="edit" /> Edit…</button>
      </div>
      <RatingButtons clip={clip} />
    </section>
  );
}
