/** Everything about one clip. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { totalCost } from "../data/model";
import type { Clip } from "../data/types";
import { ClipActions } from "../live/ClipActions";
import { Renders } from "../live/Renders";
import { isOfOtherRequest } from "../logic/attempts";
import { formatBytes, formatCost, formatDate, formatDuration, formatSeconds } from "../logic/format";
import { mediaUrl } from "../logic/media-url";
import { valueLabel } from "../logic/values";
import { CopyButton } from "../components/CopyButton";
import { Icon } from "../components/Icon";
import { Poster } from "../components/Poster";
import { StateBadge } from "../components/State";
import { Tile } from "../components/Tile";
import { useKeys } from "../state/keys";
import { allPaused, go, isSelected, linkTo, model, shownClips, toggleSelected } from "../state/store";
import { freeVideo } from "../state/video";

const KINDS = { continues: "continues", reference: "uses a frame of", needs: "needs", pick: "waits for a pick of" } as const;

export function Details({ id }: { id: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const clip = model.value.clip.get(id);
  useLayoutEffect(() => heading.current?.focus(), [id]);
  const close = () => go({ clip: null });
  const move = (step: number) => {
    const list = shownClips.peek();
    const next = list[list.findIndex((each) => each.id === id) + step];
    if (next !== undefined) go({ clip: next.id }, "replace");
  };
  useKeys("Details", [
    { keys: ["Escape"], label: "Close the details", run: close },
    { keys: ["j"], label: "Next clip", run: () => move(1) },
    { keys: ["k"], label: "Previous clip", run: () => move(-1) },
    { keys: ["s"], label: "Select the clip, or not", run: () => toggleSelected(id) },
  ]);
  return (
    <aside class="details" aria-label="Details">
      <div class="panel-head sticky">
        <h2 ref={heading} tabIndex={-1} dir="auto">{id}</h2>
        <button type="button" class="button icon-only end" aria-label="Previous clip" title="Previous clip  k" onClick={() => move(-1)}><Icon name="previous" /></button>
        <button type="button" class="button icon-only" aria-label="Next clip" title="Next clip  j" onClick={() => move(1)}><Icon name="next" /></button>
        <button type="button" class="button icon-only" aria-label="Close the details" title="Close  Esc" onClick={close}><Icon name="close" /></button>
      </div>
      {clip === undefined ? <p class="empty">The plan has no clip of this name.</p> : <Body key={id} clip={clip} />}
    </aside>
  );
}

function Body({ clip }: { clip: Clip }) {
  const { data, children } = model.value;
  const cost = totalCost(clip);
  const facts: [string, string | null][] = [
    ["Shot", clip.shot],
    ...Object.entries(clip.cell).map(([name, value]): [string, string] => [name, valueLabel(value)]),
    ["Take", clip.take === null ? null : `${clip.take}${clip.is_picked ? ", picked" : ""}`],
    ["Model", clip.model],
    ["Seed", clip.seed === null ? null : String(clip.seed)],
    ["Length", clip.seconds === null ? null : formatSeconds(clip.seconds)],
    ["Frames", clip.width === null ? null : `${clip.width}×${clip.height ?? "–"}${clip.frame_rate === null ? "" : `, ${Number(clip.frame_rate.toFixed(3))} fps`}${clip.has_audio === null ? "" : clip.has_audio ? ", sound" : ", silent"}`],
    ["Cost", cost === null || data.currency === null ? null : formatCost(cost, data.currency)],
    ["Took", clip.elapsed_ms === null ? null : formatDuration(clip.elapsed_ms)],
    ["File", clip.file === null ? null : `${clip.file}${clip.bytes === null ? "" : ` (${formatBytes(clip.bytes)})`}`],
    ["Task", clip.task],
    ["Key", clip.key],
  ];
  const descendants = children.get(clip.id) ?? [];
  return (
    <div class="details-body">
      <div class="stage"><DetailVideo clip={clip} /></div>
      <div class="row">
        <StateBadge state={clip.state} />
        <span class="spacer" />
        <button type="button" class="button" aria-pressed={isSelected(clip.id)} onClick={() => toggleSelected(clip.id)}>{isSelected(clip.id) ? "Selected" : "Select"}</button>
      </div>
      <ClipActions clip={clip} />
      {clip.failure !== null && <p class="failure" dir="auto">{clip.failure}</p>}
      <section>
        <h3>Prompt</h3>
        {clip.prompt === null ? <p class="dim">none</p> : <p class="prompt" dir="auto">{clip.prompt}</p>}
        {clip.dialogue !== null && <><h3>Dialogue</h3><p class="prompt" dir="auto">{clip.dialogue}</p></>}
      </section>
      <dl class="facts">
        {facts.filter(([, value]) => value !== null).map(([name, value]) => (
          <div key={name}><dt dir="auto">{name}</dt><dd class={name === "Key" || name === "Task" ? "mono" : ""} dir="auto">{value}</dd></div>
        ))}
      </dl>
      {(clip.parents.length > 0 || descendants.length > 0) && (
        <section>
          <h3>Dependencies</h3>
          <ul class="links">
            {clip.parents.map((parent) => <li key={`${parent.kind}-${parent.clip}`}><span class="dim">{KINDS[parent.kind]}</span> <a href={linkTo({ clip: parent.clip })} dir="auto">{parent.clip}</a></li>)}
            {descendants.map((child) => <li key={`${child.kind}-${child.clip.id}`}><span class="dim">leads to</span> <a href={linkTo({ clip: child.clip.id })} dir="auto">{child.clip.id}</a></li>)}
          </ul>
        </section>
      )}
      <Renders clip={clip} />
      {clip.attempts.length > 0 && (
        <section>
          <h3>Attempts</h3>
          <ol class="attempts">
            {clip.attempts.map((attempt) => (
              <li key={attempt.attempt}>
                <span class="strong">{attempt.result}</span> <span class="dim num">{formatDate(attempt.intended_at)}</span>{isOfOtherRequest(clip, attempt) && <span class="dim"> of another request</span>}
                {attempt.message !== null && <p dir="auto">{attempt.message}</p>}
                {attempt.task !== null && <p class="mono dim">{attempt.task}</p>}
              </li>
            ))}
          </ol>
        </section>
      )}
      {clip.command !== "" && (
        <section>
          <h3>Command</h3>
          <div class="command"><code dir="ltr">{clip.command}</code><CopyButton text={clip.command} label="Copy the command" /></div>
        </section>
      )}
      <details class="request">
        <summary>Request as sent</summary>
        <pre dir="ltr" tabIndex={0}>{JSON.stringify(clip.request, null, 2)}</pre>
        <CopyButton text={JSON.stringify(clip.request, null, 2)} label="Copy the request" />
      </details>
    </div>
  );
}

function DetailVideo({ clip }: { clip: Clip }) {
  const ref = useRef<HTMLVideoElement>(null);
  const [broken, setBroken] = useState(false);
  const source = mediaUrl(clip.file);
  const poster = mediaUrl(clip.poster);
  useEffect(() => {
    const video = ref.current;
    if (video === null || source === null) return;
    video.src = source;
    return () => freeVideo(video);
  }, [source]);
  useEffect(() => {
    if (allPaused.value) ref.current?.pause();
  }, [allPaused.value]);
  if (source === null) return <Poster clip={clip} eager />;
  if (broken) return <Tile clip={clip} broken="clip" />;
  return <video ref={ref} class="fill" controls loop playsInline preload="metadata" aria-label={`Clip ${clip.id}`} {...(poster === null ? {} : { poster })} onPlay={() => (allPaused.value = false)} onError={() => setBroken(true)} />;
}
