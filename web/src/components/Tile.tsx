/** What stands where a clip has no frame: its state, in words. */
import type { Clip } from "../data/types";
import { STATE_TEXT, StateIcon } from "./State";

interface Props {
  clip: Clip;
  /** What cannot be shown although the data names it. */
  broken?: "clip" | "poster" | false;
}

export function Tile({ clip, broken = false }: Props) {
  const text = broken ? `The ${broken} cannot be shown` : STATE_TEXT[clip.state].tile;
  return (
    <span class={`tile state-${broken ? "missing" : clip.state}`}>
      <StateIcon state={broken ? "missing" : clip.state} />
      <span class="tile-text">{text}</span>
      {broken === false && clip.failure !== null && <span class="tile-detail" dir="auto">{clip.failure}</span>}
    </span>
  );
}
