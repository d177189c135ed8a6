/** All videos that there are of a clip: each plays, and where there is a server, each can be used. */
import { useEffect, useRef } from "preact/hooks";
import type { Clip } from "../data/types";
import { requestOf } from "../logic/attempts";
import { formatCost, formatDate } from "../logic/format";
import { mediaUrl } from "../logic/media-url";
import { model } from "../state/store";
import { playFile } from "../state/video";
import { isLive } from "./server";
import { usePerform } from "./use-perform";

function RenderVideo({ url, bytes, label }: { url: string; bytes: number | null; label: string }) {
  const ref = useRef<HTMLVideoElement>(null);
  useEffect(() => (ref.current === null ? undefined : playFile(ref.current, url, bytes)), [url, bytes]);
  return <video ref={ref} controls muted playsInline preload="auto" aria-label={label} />;
}

export function Renders({ clip }: { clip: Clip }) {
  const performing = usePerform();
  const { currency } = model.value.data;
  const renders = clip.renders ?? [];
  if (renders.length < 2) return null;
  return (
    <section aria-label="Renders">
      <h3>Renders</h3>
      <ol class="renders">
        {renders.map((render) => {
          const url = mediaUrl(render.file);
          const isEarlier = clip.key !== null && requestOf(render.key) !== requestOf(clip.key);
          return (
            <li key={render.key}>
              {url !== null && <RenderVideo url={url} bytes={render.bytes} label={`Render ${render.number}`} />}
              <div class="row">
                <span class="strong">{render.number}</span>
                <span class="dim num">{formatDate(render.made_at)}</span>
                {render.cost !== undefined && currency !== null && <span class="dim num">{formatCost(render.cost, currency)}</span>}
                <span class="dim">{render.is_asked ? "asked for" : ""}{isEarlier ? " of another request" : ""}</span>
                <span class="spacer" />
                {render.counts
                  ? <span class="strong">used</span>
                  : isLive.value && url !== null && !isEarlier && (
                    <button type="button" class="button" disabled={performing.busy} onClick={() => performing.start({ action: "pick", shot: clip.id, choice: String(render.number) })}>Use this one</button>
                  )}
              </div>
            </li>
          );
        })}
      </ol>
      {performing.problem !== null && <p class="failure output" role="alert" dir="auto">{performing.problem}</p>}
    </section>
  );
}
