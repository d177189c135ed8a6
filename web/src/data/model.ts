/** Indexes over the data: what a view looks up by name. */
import { labelClips, type ClipLabel } from "../logic/labels";
import { valueKey } from "../logic/values";
import type { Clip, StatusKind, Cut, Json, ParentKind, Shot, ViewerData } from "./types";

export interface Child {
  clip: Clip;
  kind: ParentKind;
}

export interface AxisIndex {
  name: string;
  /** Distinct values by their key, in the order of the file. */
  values: { key: string; value: Json }[];
}

export interface Model {
  data: ViewerData;
  clip: Map<string, Clip>;
  shot: Map<string, Shot>;
  clipsOfShot: Map<string, Clip[]>;
  children: Map<string, Child[]>;
  axes: AxisIndex[];
  models: string[];
  states: { state: StatusKind; count: number }[];
  /** Lower-case text of each clip that a search goes through. */
  searchText: Map<string, string>;
  order: Map<string, number>;
  labels: Map<string, ClipLabel>;
  /** What not all clips have in common: the rest is not repeated on each. */
  differs: { showsState: boolean; showsLength: boolean; showsCost: boolean };
  /** Width by height of most clips, as CSS writes it. */
  ratio: string;
}

/** The order in which states are listed: what needs attention first. */
export const STATE_ORDER: readonly StatusKind[] = [
  "failed",
  "indeterminate",
  "missing",
  "unrecorded",
  "detached",
  "at-other-service",
  "unpicked",
  "submitting",
  "claimed-by-other-run",
  "in-flight",
  "downloading",
  "blocked",
  "waiting-for-retry",
  "waiting",
  "pending",
  "not-started",
  "not-selected",
  "done",
  "reused",
];

/** The most that all of a clip's tasks cost, also those that failed or were for an earlier text. */
export function totalCost(clip: Clip): number | null {
  const costs = clip.attempts.map((attempt) => attempt.cost).filter((cost) => cost !== undefined);
  return costs.length === 0 ? clip.cost : costs.reduce((sum, cost) => sum + cost, 0);
}

export function buildModel(data: ViewerData): Model {
  const clip = new Map(data.clips.map((each) => [each.id, each]));
  const clipsOfShot = new Map<string, Clip[]>(data.shots.map((shot) => [shot.id, []]));
  const children = new Map<string, Child[]>();
  const searchText = new Map<string, string>();
  const counts = new Map<StatusKind, number>();
  for (const each of data.clips) {
    const siblings = clipsOfShot.get(each.shot);
    if (siblings) siblings.push(each);
    else clipsOfShot.set(each.shot, [each]);
    for (const parent of each.parents) {
      const list = children.get(parent.clip) ?? [];
      list.push({ clip: each, kind: parent.kind });
      children.set(parent.clip, list);
    }
    counts.set(each.state, (counts.get(each.state) ?? 0) + 1);
    searchText.set(each.id, searchable(each));
  }
  return {
    data,
    clip,
    shot: new Map(data.shots.map((shot) => [shot.id, shot])),
    clipsOfShot,
    children,
    axes: collectAxes(data),
    models: [...new Set(data.clips.map((each) => each.model))].sort(),
    states: STATE_ORDER.filter((state) => counts.has(state)).map((state) => ({ state, count: counts.get(state) ?? 0 })),
    searchText,
    order: new Map(data.clips.map((each, index) => [each.id, index])),
    labels: labelClips(data),
    differs: {
      showsState: data.clips.some((each) => each.state !== "done" && each.state !== "reused"),
      showsLength: new Set(data.clips.map((each) => each.seconds).filter((seconds) => seconds !== null)).size > 1,
      showsCost: new Set(data.clips.map(totalCost)).size > 1,
    },
    ratio: commonRatio(data),
  };
}

function collectAxes(data: ViewerData): AxisIndex[] {
  const axes = new Map<string, Map<string, Json>>();
  const add = (name: string, value: Json) => {
    const values = axes.get(name) ?? new Map<string, Json>();
    values.set(valueKey(value), value);
    axes.set(name, values);
  };
  for (const shot of data.shots) for (const axis of shot.axes) for (const value of axis.values) add(axis.name, value);
  for (const clip of data.clips) for (const [name, value] of Object.entries(clip.cell)) add(name, value);
  return [...axes].map(([name, values]) => ({
    name,
    values: [...values].map(([key, value]) => ({ key, value })),
  }));
}

function searchable(clip: Clip): string {
  const cell = Object.entries(clip.cell).map(([name, value]) => `${name}=${valueKey(value)}`);
  const parts = [clip.id, clip.prompt, clip.dialogue, clip.model, clip.state, ...cell];
  if (clip.seed !== null) parts.push(`seed=${clip.seed}`);
  if (clip.task !== null) parts.push(clip.task);
  if (clip.key !== null) parts.push(clip.key);
  return parts.filter((part) => part !== null).join("\n").toLowerCase();
}

/** The clips of newer data, as the previous objects where nothing has changed. */
export function shareClips(previous: ReadonlyMap<string, Clip>, clips: readonly Clip[]): Clip[] {
  return clips.map((clip) => {
    const before = previous.get(clip.id);
    return before !== undefined && JSON.stringify(before) === JSON.stringify(clip) ? before : clip;
  });
}

/** A shot with several takes and no pick: somebody has to choose. */
export function isOpenChoice(shot: Shot): boolean {
  return shot.takes > 1 && shot.pick === null;
}

/** The clip that a cut shows; null for a file of one's own, for a title, and for a clip that is not there. */
export function shownClip(model: Model, cut: Cut): Clip | null {
  if (cut.kind === "file" || cut.kind === "title") return null;
  return model.clip.get(cut.clip) ?? null;
}

/** The takes of a clip's instance, itself included. */
export function takesOf(model: Model, clip: Clip): Clip[] {
  const cell = cellKey(clip);
  return (model.clipsOfShot.get(clip.shot) ?? []).filter((other) => cellKey(other) === cell);
}

/** Identifies an instance: the shot and its cell. */
export function cellKey(clip: Clip): string {
  const cell = Object.entries(clip.cell).map(([name, value]) => `${name}=${valueKey(value)}`);
  return `${clip.shot}@${cell.sort().join(",")}`;
}

/** The shape that most clips have, so that frames are shown whole without bars. */
function commonRatio(data: ViewerData): string {
  const counts = new Map<string, { text: string; count: number }>();
  for (const { width, height } of data.clips) {
    if (width === null || height === null || !(width > 0) || !(height > 0)) continue;
    const ratio = (width / height).toFixed(3);
    const entry = counts.get(ratio) ?? { text: `${width} / ${height}`, count: 0 };
    entry.count++;
    counts.set(ratio, entry);
  }
  return [...counts.values()].sort((a, b) => b.count - a.count)[0]?.text ?? "16 / 9";
}
