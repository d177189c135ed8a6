/** The state of the page: the data, the route and what is stored in the browser. */
import { computed, signal } from "@preact/signals";
import { buildModel, shareClips, type Model } from "../data/model";
import type { Clip, ViewerData } from "../data/types";
import { filterClips, sortClips } from "../logic/filter";
import { labelText } from "../logic/labels";
import { MAX_SELECTED, START, formatRoute, parseRoute, type Route } from "../logic/route";

const EMPTY: ViewerData = {
  version: 4,
  generator: "",
  created_at: 0,
  workflow: { name: "", file: "", title: null },
  currency: null,
  shots: [],
  clips: [],
  films: [],
};

export const model = signal<Model>(buildModel(EMPTY));
export const route = signal<Route>(START);
/** What a screen reader is to announce. */
export const announcement = signal("");
/** Stops everything that moves. */
export const allPaused = signal(false);

export const shownClips = computed<Clip[]>(() => {
  const { filter, sort, descending } = route.value;
  return sortClips(model.value, filterClips(model.value, filter), sort, descending);
});

/** The selected clips that exist, in the order of their selection. */
export const selectedClips = computed<Clip[]>(() =>
  route.value.selected.map((id) => model.value.clip.get(id)).filter((clip) => clip !== undefined),
);

/** Shows newer data. What has not changed stays the same object, so that nothing that plays begins again. */
export function updateData(data: ViewerData): void {
  showData({ ...data, clips: shareClips(model.peek().clip, data.clips) });
}

function showData(data: ViewerData): void {
  model.value = buildModel(data);
  const { style, classList } = document.documentElement;
  const [width = 16, height = 9] = model.value.ratio.split(" / ").map(Number);
  style.setProperty("--ratio", model.value.ratio);
  classList.toggle("portrait", width < height);
}

export function openData(data: ViewerData): void {
  showData(data);
  document.title = `${data.workflow.title ?? data.workflow.name} · viewer`;
  const follow = () => {
    route.value = parseRoute(location.hash);
  };
  addEventListener("hashchange", follow);
  follow();
}

/** Changes the route. `replace` for what should not become a step of the browser's history, such as typing. */
export function go(change: Partial<Route>, how: "push" | "replace" = "push"): void {
  const next = { ...route.value, ...change };
  const hash = formatRoute(next);
  route.value = next;
  if (hash === formatRoute(parseRoute(location.hash)) && location.hash !== "") return;
  if (how === "push") history.pushState(null, "", hash);
  else history.replaceState(null, "", hash);
}

/** The address of a change of the route, for links. */
export function linkTo(change: Partial<Route>): string {
  return formatRoute({ ...route.value, ...change });
}

/** What a clip is called beside the others. */
export function nameOf(clip: Clip): string {
  const label = model.value.labels.get(clip.id);
  return label === undefined ? clip.id : labelText(label);
}

/** What it and the other takes of its instance are called. */
export function instanceOf(clip: Clip): string {
  return model.value.labels.get(clip.id)?.instance ?? clip.shot;
}

export function isSelected(id: string): boolean {
  return route.value.selected.includes(id);
}

export function toggleSelected(id: string): void {
  const { selected } = route.value;
  if (selected.includes(id)) {
    select(selected.filter((other) => other !== id));
    announce(`${id} is not selected any more`);
  } else if (selected.length >= MAX_SELECTED) {
    announce(`At most ${MAX_SELECTED} clips can be selected`);
  } else {
    select([...selected, id]);
    announce(`${id} selected, ${selected.length + 1} in all`);
  }
}

export function select(ids: string[]): void {
  go({ selected: [...new Set(ids)].slice(0, MAX_SELECTED) }, "replace");
}

export function announce(text: string): void {
  announcement.value = text;
}
