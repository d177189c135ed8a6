/** Two clips on top of each other: a wipe between them, or their difference made brighter. */
import { useRef, useState } from "preact/hooks";
import type { Clip } from "../data/types";
import { SyncVideo } from "../components/SyncVideo";
import { useKeys } from "../state/keys";
import type { SyncSession } from "../state/sync-session";
import { ClipHead } from "../components/ClipHead";

const MAX_BRIGHTNESS = 12;

interface Props {
  clips: Clip[];
  mode: "wipe" | "difference";
  session: SyncSession;
}

export function Overlay({ clips, mode, session }: Props) {
  const [position, setPosition] = useState(50);
  const [brightness, setBrightness] = useState(4);
  const stage = useRef<HTMLDivElement>(null);
  const [a, b] = clips;
  useKeys("Wipe", mode !== "wipe" ? [] : [
    { keys: ["ArrowLeft"], label: "Wipe to the left", run: () => setPosition((value) => Math.max(0, value - 2)) },
    { keys: ["ArrowRight"], label: "Wipe to the right", run: () => setPosition((value) => Math.min(100, value + 2)) },
  ]);
  const drag = (event: PointerEvent) => {
    const box = stage.current?.getBoundingClientRect();
    if (mode !== "wipe" || box === undefined || event.buttons !== 1) return;
    setPosition(Math.max(0, Math.min(100, (100 * (event.clientX - box.left)) / box.width)));
  };
  if (a === undefined || b === undefined) return null;
  return (
    <section class="overlay-view" aria-label={`${a.id} and ${b.id}`}>
      <div class="overlay-heads"><ClipHead clip={a} index={0} /><ClipHead clip={b} index={1} /></div>
      <div
        ref={stage}
        class={`stage ${mode}`}
        style={{ "--wipe": `${position}%`, "--brightness": String(brightness) }}
        onPointerMove={drag}
        onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); drag(event); }}
      >
        <div class="layer lower"><SyncVideo key={a.id} clip={a} session={session} /></div>
        <div class="layer upper"><SyncVideo key={b.id} clip={b} session={session} /></div>
        {mode === "wipe" && <><span class="wipe-line" /><span class="wipe-label left">A</span><span class="wipe-label right">B</span></>}
      </div>
      {mode === "wipe" ? (
        <label class="overlay-range"><span>A</span><input type="range" min={0} max={100} step={0.5} value={position} aria-label="Position of the wipe" aria-valuetext={`${Math.round(position)} % A`} onInput={(event) => setPosition(Number(event.currentTarget.value))} /><span>B</span></label>
      ) : (
        <label class="overlay-range"><span>Brightness</span><input type="range" min={1} max={MAX_BRIGHTNESS} step={1} value={brightness} aria-valuetext={`times ${brightness}`} onInput={(event) => setBrightness(Number(event.currentTarget.value))} /><span class="num">{brightness}×</span></label>
      )}
    </section>
  );
}
