/** A clip on the wall: poster, name, state, and whether it is selected. */
import { totalCost } from "../data/model";
import type { Clip } from "../data/types";
import { formatCost, formatSeconds } from "../logic/format";
import { valueLabel } from "../logic/values";
import { go, toggleSelected } from "../state/store";
import { memo } from "./memo";
import { Poster } from "./Poster";
import { STATE_TEXT, StateIcon } from "./State";

interface Props {
  clip: Clip;
  selected: boolean;
  eager: boolean;
  currency: string | null;
}

export const ClipCard = memo(function ClipCard({ clip, selected, eager, currency }: Props) {
  const cost = totalCost(clip);
  return (
    <div class={`card${selected ? " selected" : ""}`} role="listitem" data-clip={clip.id}>
      <button type="button" class="card-open" tabIndex={-1} onClick={() => go({ clip: clip.id })}>
        <span class="thumb">
          <Poster clip={clip} eager={eager} hidden={!eager} />
          {clip.seconds !== null && <span class="stamp num">{formatSeconds(clip.seconds)}</span>}
          {clip.is_picked && <span class="stamp pick">picked</span>}
        </span>
        <span class="card-name" dir="auto">{clip.shot}{clip.take !== null && <span class="dim">#{clip.take}</span>}</span>
        <span class="card-params" dir="auto">{parameters(clip)}</span>
        <span class="card-meta">
          {clip.state === "done" ? <span class="dot" /> : <StateIcon state={clip.state} />}
          <span>{STATE_TEXT[clip.state].label}</span>
          {cost !== null && currency !== null && <span class="num end">{formatCost(cost, currency)}</span>}
        </span>
      </button>
      <input type="checkbox" class="card-check" tabIndex={-1} checked={selected} onChange={() => toggleSelected(clip.id)} aria-label={`Select ${clip.id}`} />
    </div>
  );
});

/** The cell, or the seed where there is none. */
function parameters(clip: Clip): string {
  const cell = Object.entries(clip.cell).map(([name, value]) => `${name} ${valueLabel(value)}`);
  if (cell.length === 0 && clip.seed !== null) cell.push(`seed ${clip.seed}`);
  return cell.join(" · ") || clip.model;
}
