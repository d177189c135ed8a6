/** A clip on the wall: poster, name, state, and whether it is selected. */
import { totalCost } from "../data/model";
import type { Clip } from "../data/types";
import { formatCost, formatSeconds } from "../logic/format";
import { RatingStamp } from "../live/Rating";
import { go, toggleSelected } from "../state/store";
import { memo } from "./memo";
import { Poster } from "./Poster";
import { STATE_TEXT, StateIcon } from "./State";

interface Props {
  clip: Clip;
  selected: boolean;
  eager: boolean;
  currency: string | null;
  name: string;
  values: string;
  prompt: string;
  showsState: boolean;
  showsLength: boolean;
  showsCost: boolean;
}

export const ClipCard = memo(function ClipCard({ clip, selected, eager, currency, name, values, prompt, showsState, showsLength, showsCost }: Props) {
  const cost = showsCost && currency !== null ? totalCost(clip) : null;
  return (
    <div class={`card${selected ? " selected" : ""}`} role="listitem" data-clip={clip.id} data-state={clip.state}>
      <button type="button" class="card-open" tabIndex={-1} onClick={() => go({ clip: clip.id })}>
        <span class="thumb">
          <Poster clip={clip} eager={eager} hidden={!eager} />
          {showsLength && clip.seconds !== null && <span class="stamp num">{formatSeconds(clip.seconds)}</span>}
          {clip.is_picked && <span class="stamp pick">picked</span>}
          <RatingStamp clip={clip} />
        </span>
        {name !== "" && <span class="card-name" dir="auto">{name}</span>}
        {values !== "" && <span class={name === "" ? "card-name" : "card-params"} dir="auto">{values}</span>}
        {prompt !== "" && <span class="card-params" dir="auto">{prompt}</span>}
        {(showsState || cost !== null) && (
          <span class="card-meta">
            {showsState && (clip.state === "done" ? <span class="dot" /> : <StateIcon state={clip.state} />)}
            {showsState && <span>{STATE_TEXT[clip.state].label}</span>}
            {cost !== null && <span class="num end">{formatCost(cost, currency)}</span>}
          </span>
        )}
      </button>
      <input type="checkbox" class="card-check" tabIndex={-1} checked={selected} onChange={() => toggleSelected(clip.id)} aria-label={`Select ${clip.id}`} />
    </div>
  );
});
