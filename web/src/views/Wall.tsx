/** All clips as posters, with filters, search and order. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Clip } from "../data/types";
import { Icon } from "../components/Icon";
import { ClipCard } from "../components/ClipCard";
import { count } from "../logic/format";
import { NO_FILTER, isFiltered } from "../logic/filter";
import { useKeys } from "../state/keys";
import { allPaused, announce, go, model, route, shownClips, toggleSelected } from "../state/store";
import { reducedMotion } from "../state/preferences";
import { FilterBar } from "./FilterBar";
import { WallPlayer } from "./wall-player";
import { WallPosters } from "./wall-posters";
import { cardOf, focusCard, moveFocus, useRovingFocus } from "./wall-focus";
import { ROWS_PER_BLOCK, useColumns } from "./wall-layout";

/** So many cards share the width of the page; 5 and 6 are two rows. */
const MAX_FEW = 6;
/** Cards of the first paint; the rest follow when the page is idle. */
const FIRST_CARDS = 96;
const MORE_CARDS = 304;
/** Above this, more cards are built on demand only. */
const MAX_EAGER_CARDS = 2_000;

export function Wall() {
  const clips = shownClips.value;
  const list = useRef<HTMLDivElement>(null);
  const columns = useColumns(list, clips.length > 0);
  const player = useRef<WallPlayer | null>(null);
  const posters = useRef<WallPosters | null>(null);
  const [playsVisible, setPlaysVisible] = useState(false);
  const [limit, setLimit] = useState(FIRST_CARDS);
  const paused = allPaused.value;
  const shown = clips.slice(0, limit);
  const selected = new Set(route.value.selected);
  const { data, differs } = model.value;

  useEffect(() => {
    if (limit >= clips.length || limit >= MAX_EAGER_CARDS) return;
    const timer = setTimeout(() => setLimit(limit + MORE_CARDS), 30);
    return () => clearTimeout(timer);
  }, [limit, clips.length]);

  useEffect(() => {
    if (list.current === null) return;
    player.current = new WallPlayer(list.current, (id) => model.peek().clip.get(id));
    posters.current = new WallPosters(list.current);
    return () => {
      player.current?.dispose();
      posters.current?.dispose();
    };
  }, []);
  useEffect(() => {
    player.current?.refresh();
    posters.current?.refresh();
  }, [clips, limit, columns]);
  useEffect(() => player.current?.setMode(paused ? "off" : playsVisible ? "visible" : reducedMotion.matches ? "off" : "hover"), [paused, playsVisible]);
  useEffect(() => announce(`${count(clips.length, "clip")} shown`), [clips.length]);
  useRovingFocus(list, clips, columns);

  const togglePlay = () => {
    allPaused.value = false;
    setPlaysVisible(!playsVisible);
  };
  useKeys("Wall", [
    { keys: ["ArrowLeft"], label: "Clip to the left", run: () => moveFocus(list.current, "left") },
    { keys: ["ArrowRight"], label: "Clip to the right", run: () => moveFocus(list.current, "right") },
    { keys: ["ArrowUp"], label: "Clip above", run: () => moveFocus(list.current, "up") },
    { keys: ["ArrowDown"], label: "Clip below", run: () => moveFocus(list.current, "down") },
    { keys: ["Home"], label: "First clip", run: () => focusCard(list.current, 0) },
    { keys: ["End"], label: "Last clip", run: () => focusCard(list.current, shown.length - 1) },
    { keys: ["s", "Shift+Enter"], label: "Select the clip, or not", run: () => {
      const id = cardOf(document.activeElement);
      if (id !== null) toggleSelected(id);
    } },
    { keys: ["p"], label: "Play what is in view", run: togglePlay },
    { keys: ["/"], label: "Search", run: () => document.getElementById("search")?.focus() },
    { keys: ["c"], label: "Compare the selected clips", run: () => route.peek().selected.length > 1 && go({ view: "compare" }) },
  ]);

  return (
    <>
      <FilterBar>
        <button type="button" class="button" aria-pressed={playsVisible && !paused} onClick={togglePlay} title="Play what is in view  p">
          <Icon name={playsVisible && !paused ? "pause" : "play"} /> Play visible
        </button>
      </FilterBar>
      <p class="result-line dim">
        {count(clips.length, "clip")}{clips.length !== data.clips.length && ` of ${data.clips.length.toLocaleString("en")}`}
      </p>
      <div ref={list} class={`wall${clips.length <= MAX_FEW ? " few" : ""}`} style={{ "--few": String(clips.length > 4 ? 3 : clips.length) }} role="list" aria-label="Clips">
        {blocks(shown, columns * ROWS_PER_BLOCK).map((block, number) => (
          <div key={number} class="wall-block" role="none">
            {block.map((clip) => (
              <ClipCard key={clip.id} clip={clip} selected={selected.has(clip.id)} eager={number === 0} currency={data.currency} {...cardLabel(clip)} {...differs} />
            ))}
          </div>
        ))}
      </div>
      {clips.length > limit && limit >= MAX_EAGER_CARDS && (
        <button type="button" class="button more" onClick={() => setLimit(limit + MAX_EAGER_CARDS)}>
          Show {Math.min(MAX_EAGER_CARDS, clips.length - limit).toLocaleString("en")} more
        </button>
      )}
      {clips.length === 0 && (
        <div class="empty">
          <p>{isFiltered(route.value.filter) ? "No clip matches the filters." : "The plan has no clips."}</p>
          {isFiltered(route.value.filter) && <button type="button" class="button" onClick={() => go({ filter: NO_FILTER })}>Clear the filters</button>}
        </div>
      )}
    </>
  );
}

/** As text, which is the same while nothing has changed. */
function cardLabel(clip: Clip): { name: string; values: string; prompt: string } {
  const { name, values, prompt } = model.value.labels.get(clip.id) ?? { name: clip.id, values: [], prompt: "" };
  return { name, values: values.join(" · "), prompt };
}

/** Runs of clips that fill whole rows. */
function blocks(clips: Clip[], size: number): Clip[][] {
  const runs: Clip[][] = [];
  for (let start = 0; start < clips.length; start += size) runs.push(clips.slice(start, start + size));
  return runs;
}
