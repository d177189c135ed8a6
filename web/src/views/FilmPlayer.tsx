/** A film with chapter marks and dialogue as captions. Captions are a text track that the page fills: from disk a browser loads no file of captions. */
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { shownClip } from "../data/model";
import type { Cut, Film } from "../data/types";
import { formatTime } from "../logic/format";
import { mediaUrl } from "../logic/media-url";
import { useKeys } from "../state/keys";
import { allPaused, instanceOf, model } from "../state/store";
import { freeVideo } from "../state/video";

const STEP_SECONDS = 1 / 24;

/** The text track of a video with these captions; one that it had before is filled anew. */
function captionTrack(video: HTMLVideoElement, film: Film): TextTrack {
  const track = video.textTracks[0] ?? video.addTextTrack("captions", "Dialogue");
  // Only a track that is not disabled lists its cues.
  track.mode = "hidden";
  for (const cue of Array.from(track.cues ?? [])) track.removeCue(cue);
  for (const { start, end, speaker, text } of film.captions) {
    const spoken = speaker === null ? text : `${speaker}: ${text}`;
    // A cue is a text of WebVTT, in which these begin tags and escapes.
    track.addCue(new VTTCue(start, end, spoken.replaceAll("&", "&amp;").replaceAll("<", "&lt;")));
  }
  return track;
}

function cutName(cut: Cut): string {
  const clip = shownClip(model.value, cut);
  return clip === null ? cut.clip : instanceOf(clip);
}

/** Whether films show dialogue. */
const captions = signal(true);

export function CaptionsToggle({ film }: { film: Film }) {
  if (film.captions.length === 0) return null;
  return <label class="check-row end"><input type="checkbox" checked={captions.value} onChange={(event) => (captions.value = event.currentTarget.checked)} /> Captions</label>;
}

export function FilmPlayer({ film }: { film: Film }) {
  const ref = useRef<HTMLVideoElement>(null);
  const [time, setTime] = useState(0);
  const [length, setLength] = useState(film.seconds ?? 0);
  const [broken, setBroken] = useState(false);
  const source = mediaUrl(film.file);
  const poster = mediaUrl(film.poster) ?? mediaUrl(film.cuts.map((cut) => shownClip(model.value, cut)?.poster ?? null).find((each) => each !== null) ?? null);
  const chapter = film.cuts.reduce((current, cut, index) => (cut.start <= time + 0.001 ? index : current), 0);
  useEffect(() => {
    const video = ref.current;
    if (video === null || source === null) return;
    video.src = source;
    return () => freeVideo(video);
  }, [source]);
  useEffect(() => {
    const video = ref.current;
    if (video === null || film.captions.length === 0) return;
    captionTrack(video, film).mode = captions.value ? "showing" : "hidden";
  }, [film.captions, captions.value]);
  useEffect(() => {
    if (allPaused.value) ref.current?.pause();
  }, [allPaused.value]);
  const seek = (seconds: number) => {
    const video = ref.current;
    if (video === null) return;
    video.currentTime = Math.max(0, seconds);
    setTime(Math.max(0, seconds));
  };
  const toggle = () => {
    const video = ref.current;
    if (video?.paused) video.play().catch(() => undefined);
    else video?.pause();
  };
  const step = (direction: number) => {
    ref.current?.pause();
    seek((ref.current?.currentTime ?? 0) + direction * STEP_SECONDS);
  };
  const chapterStart = (index: number) => film.cuts[Math.max(0, Math.min(film.cuts.length - 1, index))]?.start ?? 0;
  useKeys(`Film ${film.name}`, [
    { keys: [" "], label: "Play or pause", run: toggle },
    { keys: [","], label: "One frame back", run: () => step(-1) },
    { keys: ["."], label: "One frame forward", run: () => step(1) },
    { keys: ["["], label: "Previous cut", run: () => seek(chapterStart(time - chapterStart(chapter) > 0.5 ? chapter : chapter - 1)) },
    { keys: ["]"], label: "Next cut", run: () => seek(chapterStart(chapter + 1)) },
    { keys: ["m"], label: "Sound on or off", run: () => ref.current && (ref.current.muted = !ref.current.muted) },
    { keys: ["k"], label: "Captions on or off", run: () => (captions.value = !captions.peek()) },
  ]);
  if (broken) return <p class="tile film-broken">The film {film.file} cannot be shown.</p>;
  return (
    <div class="film-player">
      <div class="film-stage">
        <video
          ref={ref}
          controls
          playsInline
          preload="metadata"
          aria-label={`Film ${film.name}`}
          {...(poster === null ? {} : { poster })}
          onTimeUpdate={(event) => setTime(event.currentTarget.currentTime)}
          onLoadedMetadata={(event) => setLength(event.currentTarget.duration)}
          onPlay={() => (allPaused.value = false)}
          onError={() => setBroken(true)}
        />
      </div>
      <div class="chapters" role="group" aria-label="Cuts">
        {film.cuts.map((cut, index) => {
          const end = film.cuts[index + 1]?.start ?? length;
          return (
            <button
              key={index}
              type="button"
              class="chapter"
              style={{ flexGrow: String(Math.max(0.5, (cut.seconds ?? end - cut.start) || 1)) }}
              aria-current={index === chapter ? "true" : "false"}
              aria-label={`${cut.clip}, from ${formatTime(cut.start)}`}
              onClick={() => seek(cut.start)}
            >
              <span dir="auto">{cutName(cut)}</span>
            </button>
          );
        })}
      </div>
      <p class="chapter-name" aria-hidden="true"><span class="dim num">{chapter + 1} of {film.cuts.length}</span> <span class="strong" dir="auto">{film.cuts[chapter] && cutName(film.cuts[chapter])}</span></p>
    </div>
  );
}
