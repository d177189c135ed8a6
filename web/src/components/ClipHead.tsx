/** The head of a compared clip: its letter, name and state. */
import type { Clip } from "../data/types";
import { go, nameOf, route, select } from "../state/store";
import { Icon } from "./Icon";
import { PickButton } from "../live/PickButton";
import { RatingButtons } from "../live/Rating";
import { StateBadge } from "./State";

export const LETTERS = ["A", "B", "C", "D"];

export function ClipHead({ clip, index }: { clip: Clip; index: number }) {
  const { selected } = route.value;
  return (
    <div class="compare-head" data-clip={clip.id}>
      <span class="letter">{LETTERS[index]}</span>
      <button type="button" class="link strong" dir="auto" onClick={() => go({ clip: clip.id })}>{nameOf(clip)}</button>
      {clip.is_picked && <span class="badge picked">picked</span>}
      {clip.state !== "done" && <StateBadge state={clip.state} />}
      <RatingButtons clip={clip} />
      <PickButton clip={clip} small />
      <button type="button" class="button icon-only small end" aria-label={`Remove ${clip.id}`} onClick={() => select(selected.filter((id) => id !== clip.id))}><Icon name="close" /></button>
    </div>
  );
}
