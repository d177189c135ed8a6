/** Which clips the wall shows, and in which order. */
import { STATE_ORDER, totalCost, type Model } from "../data/model";
import type { Clip } from "../data/types";
import { ratingKey } from "./rating";
import { valueKey } from "./values";

export const SORTS = ["plan", "rating", "cost", "duration", "time", "state"] as const;
export type Sort = (typeof SORTS)[number];

export interface Filter {
  query: string;
  shots: string[];
  models: string[];
  states: string[];
  ratings: string[];
  axes: Record<string, string[]>;
}

export const NO_FILTER: Filter = { query: "", shots: [], models: [], states: [], ratings: [], axes: {} };

export function isFiltered(filter: Filter): boolean {
  return (
    filter.query.trim() !== "" ||
    filter.shots.length + filter.models.length + filter.states.length + filter.ratings.length > 0 ||
    Object.values(filter.axes).some((keys) => keys.length > 0)
  );
}

export function filterClips(model: Model, filter: Filter): Clip[] {
  const terms = filter.query.toLowerCase().split(/\s+/).filter((term) => term !== "");
  const axes = Object.entries(filter.axes).filter(([, keys]) => keys.length > 0);
  const passes = (list: string[], value: string) => list.length === 0 || list.includes(value);
  return model.data.clips.filter((clip) => {
    if (!passes(filter.shots, clip.shot) || !passes(filter.models, clip.model) || !passes(filter.states, clip.state) || !passes(filter.ratings, ratingKey(clip))) {
      return false;
    }
    for (const [name, keys] of axes) {
      const value = Object.hasOwn(clip.cell, name) ? clip.cell[name] : undefined;
      if (value === undefined || !keys.includes(valueKey(value))) return false;
    }
    const text = model.searchText.get(clip.id) ?? "";
    return terms.every((term) => text.includes(term));
  });
}

/** Sorted by a key, then by the plan's order; unknown values last in both directions. */
export function sortClips(model: Model, clips: Clip[], sort: Sort, descending: boolean): Clip[] {
  const order = (clip: Clip) => model.order.get(clip.id) ?? 0;
  const key = (clip: Clip): number | null => {
    switch (sort) {
      case "plan":
        return order(clip);
      case "rating":
        // The best first.
        return typeof clip.rating === "number" ? -clip.rating : null;
      case "cost":
        return totalCost(clip);
      case "duration":
        return clip.seconds;
      case "time":
        return clip.elapsed_ms;
      case "state":
        return STATE_ORDER.indexOf(clip.state);
    }
  };
  const sign = descending ? -1 : 1;
  return [...clips].sort((a, b) => {
    const left = key(a);
    const right = key(b);
    if (left === null || right === null) return Number(left === null) - Number(right === null) || order(a) - order(b);
    return sign * (left - right) || order(a) - order(b);
  });
}
