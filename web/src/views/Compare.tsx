/** Two to four clips in step: side by side, with a wipe, or as their difference. */
import { useEffect, useState } from "preact/hooks";
import type { Clip } from "../data/types";
import { COMPARE_MODES, type CompareMode } from "../logic/route";
import { ClipHead } from "../components/ClipHead";
import { Icon } from "../components/Icon";
import { Poster } from "../components/Poster";
import { offers } from "../logic/offers";
import { SyncVideo } from "../components/SyncVideo";
import { Transport } from "../components/Transport";
import { RatingStamp } from "../live/Rating";
import { useKeys } from "../state/keys";
import { go, model, nameOf, route, select, selectedClips } from "../state/store";
import type { SyncSession } from "../state/sync-session";
import { useSession } from "../state/use-session";
import { Differences } from "./Differences";
import { Overlay } from "./Overlay";

const MAX_COMPARED = 4;
const MODE_LABELS: Record<CompareMode, string> = { side: "Side by side", wipe: "Wipe", difference: "Difference" };

export function Compare() {
  const session = useSession();
  const clips = selectedClips.value.slice(0, MAX_COMPARED);
  const mode = clips.length < 2 ? "side" : route.value.mode;
  const shown = mode === "side" ? clips : clips.slice(0, 2);
  const ids = shown.map((clip) => clip.id);
  useEffect(() => session.order(ids), [session, ids.join("\n")]);
  const setMode = (next: CompareMode) => go({ mode: next }, "replace");
  const swap = () => {
    const [first, second, ...others] = route.peek().selected;
    if (first !== undefined && second !== undefined) select([second, first, ...others]);
  };
  useKeys("Compare", [
    { keys: ["w"], label: "Next way to compare", run: () => setMode(COMPARE_MODES[(COMPARE_MODES.indexOf(route.peek().mode) + 1) % COMPARE_MODES.length] ?? "side") },
    { keys: ["s"], label: "Swap A and B", run: swap },
  ]);
  return (
    <div class="compare-view">
      <div class="toolbar">
        <div class="segments" role="group" aria-label="Way to compare">
          {COMPARE_MODES.map((each) => (
            <button key={each} type="button" class="segment" aria-pressed={mode === each} disabled={each !== "side" && clips.length < 2} onClick={() => setMode(each)}>
              {MODE_LABELS[each]}
            </button>
          ))}
        </div>
        <button type="button" class="button" onClick={swap} disabled={clips.length < 2} title="Swap A and B  s"><Icon name="swap" /> Swap</button>
        <span class="spacer" />
        <AddClip clips={clips} />
      </div>
      {clips.length < 2 && <Offers />}
      {clips.length > 0 && (mode === "side" ? <SideBySide clips={shown} session={session} /> : <Overlay clips={shown} mode={mode} session={session} />)}
      {clips.length > 0 && <Transport session={session} />}
      {clips.length > 1 && <Differences clips={clips} currency={model.value.data.currency} />}
    </div>
  );
}

/** What can be compared with a click. */
function Offers() {
  const list = offers(model.value, route.value);
  return (
    <section class="offers" aria-label="What to compare">
      <p class="dim">Select two to four clips: on the wall or in the grid, or by name above.{list.length > 0 && " Or compare:"}</p>
      <ul>
        {list.map(({ label, clips }) => (
          <li key={label}>
            <button type="button" class="offer" onClick={() => select(clips.slice(0, MAX_COMPARED).map((clip) => clip.id))}>
              <span class="offer-frames">{clips.slice(0, MAX_COMPARED).map((clip) => <span key={clip.id} class="chip-frame"><Poster clip={clip} /></span>)}</span>
              <span dir="auto">{label}</span>
              {clips.length > MAX_COMPARED && <span class="dim">the first {MAX_COMPARED} of {clips.length}</span>}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function SideBySide({ clips, session }: { clips: Clip[]; session: SyncSession }) {
  return (
    <div class={`side-by-side of-${clips.length}`}>
      {clips.map((clip, index) => {
        const audible = session.audible.value === clip.id;
        return (
          <section key={clip.id} class={`compare-clip${clip.is_picked ? " picked" : ""}`} data-clip={clip.id} aria-label={nameOf(clip)}>
            <ClipHead clip={clip} index={index} />
            <div class="stage"><SyncVideo clip={clip} session={session} /><RatingStamp clip={clip} />{audible && <span class="stamp"><Icon name="sound" /></span>}</div>
          </section>
        );
      })}
    </div>
  );
}

function AddClip({ clips }: { clips: Clip[] }) {
  const [problem, setProblem] = useState<string | null>(null);
  const add = (input: HTMLInputElement) => {
    const id = input.value.trim();
    if (id === "") return;
    if (!model.value.clip.has(id)) {
      setProblem("no such clip");
      return;
    }
    setProblem(null);
    input.value = "";
    select([...clips.map((clip) => clip.id), id, ...route.peek().selected]);
  };
  return (
    <label class="field">
      <span class="dim">Add</span>
      <input type="text" list="clip-names" placeholder="name of a clip" disabled={clips.length >= MAX_COMPARED} onChange={(event) => add(event.currentTarget)} />
      <datalist id="clip-names">
        {model.value.data.clips.slice(0, 1_000).map((clip) => <option key={clip.id} value={clip.id} />)}
      </datalist>
      {problem !== null && <span class="warn" role="alert">{problem}</span>}
    </label>
  );
}
