/** The grid of a shot: one axis across, one down, the others fixed to a value. */
import type { Clip, Json, Shot } from "../data/types";
import { isText, valueKey, valueLabel } from "./values";

export interface GridValue {
  key: string;
  label: string;
  /** The label, with the name of the axis where it says nothing alone. */
  heading: string;
}

export interface GridAxis {
  name: string;
  values: GridValue[];
}

export interface GridChoice {
  across: string | null;
  down: string | null;
  fixed: Record<string, string>;
}

export interface GridLayout {
  axes: GridAxis[];
  across: GridAxis | null;
  down: GridAxis | null;
  /** The axes that are neither across nor down, with the value that is shown. */
  rest: { axis: GridAxis; key: string }[];
  columns: GridValue[];
  rows: GridValue[];
  /** By row and column; `null` where the sweep has no such cell. */
  cells: (Clip | null)[][];
}

/** The axis of takes, which is none of the file's. */
export const TAKE_AXIS = "take";
/** The key of clips that do not have an axis. */
export const ABSENT = "(none)";

const SINGLE: GridValue = { key: "", label: "", heading: "" };

export function gridAxes(shot: Shot, clips: Clip[]): GridAxis[] {
  const axes = new Map<string, Map<string, GridValue>>();
  const add = (name: string, key: string, label: string, isNamed: boolean) => {
    const values = axes.get(name) ?? new Map<string, GridValue>();
    if (!values.has(key)) values.set(key, { key, label, heading: isNamed ? `${name} ${label}` : label });
    axes.set(name, values);
  };
  for (const axis of shot.axes) for (const value of axis.values) add(axis.name, valueKey(value), valueLabel(value), !isText(value));
  for (const clip of clips) {
    for (const [name, value] of Object.entries(clip.cell)) add(name, valueKey(value), valueLabel(value), !isText(value));
  }
  for (const [name, values] of axes) {
    if (clips.some((clip) => !Object.hasOwn(clip.cell, name))) values.set(ABSENT, { key: ABSENT, label: "–", heading: `no ${name}` });
  }
  if (clips.some((clip) => clip.take !== null)) {
    for (const clip of clips) add(TAKE_AXIS, keyOf(clip, TAKE_AXIS), String(clip.take ?? "–"), true);
  }
  return [...axes].map(([name, values]) => ({ name, values: [...values.values()] }));
}

function keyOf(clip: Clip, axis: string): string {
  const value: Json | undefined = Object.hasOwn(clip.cell, axis) ? clip.cell[axis] : axis === TAKE_AXIS ? clip.take : undefined;
  return value === undefined ? ABSENT : valueKey(value);
}

export function layoutGrid(shot: Shot, clips: Clip[], choice: GridChoice): GridLayout {
  const axes = gridAxes(shot, clips);
  const several = axes.filter((axis) => axis.values.length > 1);
  const named = (name: string | null) => axes.find((axis) => axis.name === name) ?? null;
  const across = named(choice.across) ?? several.find((axis) => axis.name !== choice.down && axis !== several[0]) ?? several.find((axis) => axis.name !== choice.down) ?? null;
  const down = choice.down === ABSENT ? null : pickDown(named(choice.down), several, across);
  const open = axes.filter((axis) => axis !== across && axis !== down);
  const fixed = fixRest(open, clips, choice.fixed);
  const rest = open.map((axis) => ({ axis, key: fixed[axis.name] ?? "" }));
  const shown = clips.filter((clip) => rest.every(({ axis, key }) => keyOf(clip, axis.name) === key));
  const columns = across?.values ?? [SINGLE];
  const rows = down?.values ?? [SINGLE];
  const cells = rows.map((row) =>
    columns.map(
      (column) =>
        shown.find(
          (clip) =>
            (across === null || keyOf(clip, across.name) === column.key) &&
            (down === null || keyOf(clip, down.name) === row.key),
        ) ?? null,
    ),
  );
  return { axes, across, down, rest, columns, rows, cells };
}

function pickDown(named: GridAxis | null, several: GridAxis[], across: GridAxis | null): GridAxis | null {
  if (named !== null && named !== across) return named;
  return several.find((axis) => axis !== across) ?? null;
}

/** A value for each remaining axis, such that at least one clip has all of them. */
function fixRest(rest: GridAxis[], clips: Clip[], wanted: Record<string, string>): Record<string, string> {
  const fixed: Record<string, string> = Object.create(null);
  let left = clips;
  for (const axis of rest) {
    const has = (key: string) => left.some((clip) => keyOf(clip, axis.name) === key);
    const key = wanted[axis.name];
    const chosen = key !== undefined && axis.values.some((value) => value.key === key) ? key : axis.values.find((value) => has(value.key))?.key;
    fixed[axis.name] = chosen ?? axis.values[0]?.key ?? "";
    const matching = left.filter((clip) => keyOf(clip, axis.name) === fixed[axis.name]);
    if (matching.length > 0) left = matching;
  }
  return fixed;
}
