/** One bar for all clips that play in step: play, step, scrub, loop, speed, sound. */
import { useState } from "preact/hooks";
import { formatTime } from "../logic/format";
import { frameAt } from "../logic/sync";
import { useKeys } from "../state/keys";
import { nameOf } from "../state/store";
import type { SyncSession } from "../state/sync-session";
import { Icon } from "./Icon";

const SPEEDS = [0.25, 0.5, 1, 1.5, 2];
/** Frames of a long step. */
const LONG_STEP = 12;

export function Transport({ session }: { session: SyncSession }) {
  const [showOffsets, setShowOffsets] = useState(false);
  const playing = session.playing.value;
  const rate = session.rate.value;
  const frame = frameAt(session.time.value, rate);
  const last = Math.max(0, Math.round(session.duration.value * rate) - 1);
  const clips = session.clips.value;
  const empty = clips.length === 0;
  useKeys("Player", [
    { keys: [" "], label: "Play or pause", run: () => session.toggle() },
    { keys: [","], label: "One frame back", run: () => void session.step(-1) },
    { keys: ["."], label: "One frame forward", run: () => void session.step(1) },
    { keys: ["<", "Shift+ArrowLeft"], label: `${LONG_STEP} frames back`, run: () => void session.step(-LONG_STEP) },
    { keys: [">", "Shift+ArrowRight"], label: `${LONG_STEP} frames forward`, run: () => void session.step(LONG_STEP) },
    { keys: ["l"], label: "Loop on or off", run: () => session.setLoop(!session.loop.peek()) },
    { keys: ["m"], label: "Sound of the next clip, or none", run: () => session.nextAudible() },
  ]);
  return (
    <div class="transport" role="group" aria-label="Player">
      <div class="transport-row">
        <button type="button" class="button icon-only" onClick={() => void session.step(-1)} disabled={empty} aria-label="One frame back" title="One frame back  ,">
          <Icon name="back" />
        </button>
        <button type="button" class="button icon-only primary" onClick={() => session.toggle()} disabled={empty} aria-label={playing ? "Pause" : "Play"} title="Play or pause  Space">
          <Icon name={playing ? "pause" : "play"} />
        </button>
        <button type="button" class="button icon-only" onClick={() => void session.step(1)} disabled={empty} aria-label="One frame forward" title="One frame forward  .">
          <Icon name="forward" />
        </button>
        <input
          class="scrub"
          type="range"
          min={0}
          max={last}
          step={1}
          value={Math.min(frame, last)}
          disabled={empty}
          aria-label="Time"
          aria-valuetext={`${formatTime(session.time.value)}, frame ${frame} of ${last}`}
          onInput={(event) => void session.seekFrame(Number(event.currentTarget.value))}
        />
        <output class="time" aria-live="off">
          <span>{formatTime(session.time.value)}</span>
          <span class="dim">f {Math.min(frame, last)}/{last}</span>
        </output>
        <button type="button" class="button icon-only" aria-pressed={session.loop.value} onClick={() => session.setLoop(!session.loop.value)} aria-label="Loop" title="Loop  l">
          <Icon name="loop" />
        </button>
        <label class="field">
          <span class="hidden">Speed</span>
          <select value={String(session.speed.value)} onChange={(event) => session.setSpeed(Number(event.currentTarget.value))}>
            {SPEEDS.map((speed) => (
              <option key={speed} value={String(speed)}>{speed}×</option>
            ))}
          </select>
        </label>
        <label class="field sound-field">
          <Icon name={session.audible.value === null ? "muted" : "sound"} />
          <span class="hidden">Sound of</span>
          <select value={session.audible.value ?? ""} onChange={(event) => session.setAudible(event.currentTarget.value || null)} disabled={empty}>
            <option value="">no sound</option>
            {clips.map((clip) => (
              <option key={clip.id} value={clip.id} disabled={clip.has_audio === false}>
                {nameOf(clip)}{clip.has_audio === false ? " (silent)" : ""}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="button" aria-expanded={showOffsets} onClick={() => setShowOffsets(!showOffsets)} disabled={empty}>
          Offsets
        </button>
      </div>
      {showOffsets && <Offsets session={session} />}
    </div>
  );
}

function Offsets({ session }: { session: SyncSession }) {
  return (
    <div class="offsets" role="group" aria-label="Offset of each clip in frames">
      {session.clips.value.map((clip) => (
        <label key={clip.id} class="field">
          <span class="offset-name" dir="auto">{nameOf(clip)}</span>
          <input
            type="number"
            min={-240}
            max={240}
            value={session.offsets.value.get(clip.id) ?? 0}
            onChange={(event) => void session.setOffset(clip.id, Math.round(Number(event.currentTarget.value)) || 0)}
          />
          <span class="dim">frames</span>
        </label>
      ))}
    </div>
  );
}
