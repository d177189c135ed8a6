/** The frame of a clip: its poster, loaded when it comes into view, or a tile that says why there is none. */
import { useState } from "preact/hooks";
import type { Clip } from "../data/types";
import { mediaUrl } from "../logic/media-url";
import { Tile } from "./Tile";

interface Props {
  clip: Clip;
  /** Loaded at once. */
  eager?: boolean;
  /** Not shown until somebody takes the attribute away. */
  hidden?: boolean;
}

export function Poster({ clip, eager = false, hidden = false }: Props) {
  const [broken, setBroken] = useState(false);
  const source = mediaUrl(clip.poster);
  if (source !== null && !broken) {
    return <img class="fill" src={source} alt="" loading={eager ? "eager" : "lazy"} decoding="async" hidden={hidden} draggable={false} onError={() => setBroken(true)} />;
  }
  if (clip.state === "done" && mediaUrl(clip.file) !== null && !broken) {
    return <span class="tile"><span class="tile-text">No poster</span></span>;
  }
  return <Tile clip={clip} broken={broken && "poster"} />;
}
