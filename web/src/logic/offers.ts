/** What there is to compare: the takes of a shot, and the rows of a sweep. */
import type { Model } from "../data/model";
import { cellKey } from "../data/model";
import type { Clip } from "../data/types";
import { layoutGrid } from "./grid-layout";
import type { Route } from "./route";

export interface Offer {
  label: string;
  /** The clips, of which some may be too many to compare at once. */
  clips: Clip[];
}

/** As many as can be looked through. */
const MAX_OFFERS = 24;

export function offers(model: Model, { grid, shot: shown }: Pick<Route, "grid" | "shot">): Offer[] {
  const list: Offer[] = [];
  const add = (label: string, clips: (Clip | null)[]) => {
    const playable = clips.filter((clip) => clip !== null && clip.file !== null) as Clip[];
    if (playable.length > 1 && list.length < MAX_OFFERS) list.push({ label, clips: playable });
  };
  for (const shot of model.data.shots) {
    const clips = model.clipsOfShot.get(shot.id) ?? [];
    const takes = new Map<string, Clip[]>();
    for (const clip of clips) if (clip.take !== null) takes.set(cellKey(clip), [...(takes.get(cellKey(clip)) ?? []), clip]);
    for (const each of takes.values()) add(`Takes of ${model.labels.get(each[0]?.id ?? "")?.instance ?? shot.id}`, each);
    if (shot.axes.length === 0) continue;
    const layout = layoutGrid(shot, clips, shot.id === shown ? grid : { across: null, down: null, fixed: {} });
    const fixed = layout.rest.map(({ axis, key }) => axis.values.find((value) => value.key === key)?.heading ?? "");
    layout.rows.forEach((row, index) => add([shot.id, row.heading, ...fixed].filter((part) => part !== "").join(" · "), layout.cells[index] ?? []));
  }
  return list;
}
