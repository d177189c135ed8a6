/** A cell of the grid: a poster, or a player where it plays in step with others. */
import type { Clip } from "../data/types";
import { Icon } from "../components/Icon";
import { Poster } from "../components/Poster";
import { STATE_TEXT, StateIcon } from "../components/State";
import { SyncVideo } from "../components/SyncVideo";
import { PickButton } from "../live/PickButton";
import { RatingStamp } from "../live/Rating";
import { go, isSelected, nameOf, toggleSelected } from "../state/store";
import type { SyncSession } from "../state/sync-session";

interface Props {
  clip: Clip;
  session: SyncSession;
  isActive: boolean;
  useProxy: boolean;
}

export function GridCell({ clip, session, isActive, useProxy }: Props) {
  const audible = session.audible.value === clip.id;
  const offset = session.offsets.value.get(clip.id) ?? 0;
  const selected = isSelected(clip.id);
  return (
    <div class={`cell${isActive ? " active" : ""}${selected ? " selected" : ""}${clip.is_picked ? " picked" : ""}`} data-clip={clip.id}>
      <button type="button" class="cell-open" aria-pressed={selected} onClick={() => toggleSelected(clip.id)}>
        <span class="hidden">{nameOf(clip)}, {STATE_TEXT[clip.state].label}</span>
        <span class="thumb">
          {isActive ? <SyncVideo clip={clip} session={session} useProxy={useProxy} /> : <Poster clip={clip} />}
          {clip.is_picked && <span class="stamp pick">picked</span>}
          <RatingStamp clip={clip} />
          {offset !== 0 && <span class="stamp num">{offset > 0 ? "+" : ""}{offset} f</span>}
        </span>
      </button>
      <div class="cell-tools">
        {clip.state !== "done" && <StateIcon state={clip.state} />}
        <button type="button" class="link" onClick={() => go({ clip: clip.id })} aria-label={`Details of ${nameOf(clip)}`}>
          Details
        </button>
        <PickButton clip={clip} small />
        {isActive && clip.has_audio !== false && (
          <button type="button" class="button icon-only small" aria-pressed={audible} aria-label={`Sound of ${clip.id}`} title="Sound" onClick={() => session.setAudible(audible ? null : clip.id)}>
            <Icon name={audible ? "sound" : "muted"} />
          </button>
        )}
      </div>
    </div>
  );
}
