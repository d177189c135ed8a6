/** The state that a link carries: the view, its filters, the selection and the clip whose details are open. */
import { NO_FILTER, SORTS, type Filter, type Sort } from "./filter";
import type { GridChoice } from "./grid-layout";

export const VIEWS = ["wall", "grid", "compare", "story", "graph"] as const;
export type View = (typeof VIEWS)[number];

export const COMPARE_MODES = ["side", "wipe", "difference"] as const;
export type CompareMode = (typeof COMPARE_MODES)[number];

/** More are not played together, with or without proxies. */
export const MAX_SELECTED = 25;

export interface Route {
  view: View;
  /** The clip whose details are open. */
  clip: string | null;
  filter: Filter;
  sort: Sort;
  descending: boolean;
  selected: string[];
  shot: string | null;
  grid: GridChoice;
  mode: CompareMode;
}

export const START: Route = {
  view: "wall",
  clip: null,
  filter: NO_FILTER,
  sort: "plan",
  descending: false,
  selected: [],
  shot: null,
  grid: { across: null, down: null, fixed: {} },
  mode: "side",
};

export function formatRoute(route: Route): string {
  const params = new URLSearchParams();
  const add = (name: string, value: string | null) => {
    if (value !== null && value !== "") params.append(name, value);
  };
  add("q", route.filter.query);
  for (const shot of route.filter.shots) add("shots", shot);
  for (const model of route.filter.models) add("model", model);
  for (const state of route.filter.states) add("state", state);
  for (const rating of route.filter.ratings) add("rating", rating);
  for (const [axis, keys] of Object.entries(route.filter.axes)) for (const key of keys) add(`axis.${axis}`, key);
  if (route.sort !== "plan") add("sort", route.sort);
  if (route.descending) add("desc", "1");
  add("shot", route.shot);
  add("across", route.grid.across);
  add("down", route.grid.down);
  for (const [axis, key] of Object.entries(route.grid.fixed)) add(`fix.${axis}`, key);
  if (route.mode !== "side") add("mode", route.mode);
  for (const id of route.selected) add("sel", id);
  add("clip", route.clip);
  const query = params.toString();
  return `#/${route.view}${query === "" ? "" : `?${query}`}`;
}

export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#\/?/, "");
  const split = text.indexOf("?");
  const params = new URLSearchParams(split < 0 ? "" : text.slice(split + 1));
  const axes: Record<string, string[]> = Object.create(null);
  const fixed: Record<string, string> = Object.create(null);
  for (const [name, value] of params) {
    if (name.startsWith("axis.")) (axes[name.slice(5)] ??= []).push(value);
    if (name.startsWith("fix.")) fixed[name.slice(4)] = value;
  }
  const one = <T extends string>(values: readonly T[], value: string | null, fallback: T): T =>
    values.find((each) => each === value) ?? fallback;
  return {
    view: one(VIEWS, split < 0 ? text : text.slice(0, split), "wall"),
    clip: params.get("clip"),
    filter: {
      query: params.get("q") ?? "",
      shots: params.getAll("shots"),
      models: params.getAll("model"),
      states: params.getAll("state"),
      ratings: params.getAll("rating"),
      axes,
    },
    sort: one(SORTS, params.get("sort"), "plan"),
    descending: params.get("desc") === "1",
    selected: [...new Set(params.getAll("sel"))].slice(0, MAX_SELECTED),
    shot: params.get("shot"),
    grid: { across: params.get("across"), down: params.get("down"), fixed },
    mode: one(COMPARE_MODES, params.get("mode"), "side"),
  };
}
