import { describe, expect, it } from "vitest";
import { ABSENT, TAKE_AXIS, layoutGrid, type GridChoice } from "../../src/logic/grid-layout";
import type { Clip, Json } from "../../src/data/types";
import { clip, shot } from "../support/data";

const NONE: GridChoice = { across: null, down: null, fixed: {} };
const names = (cells: (Clip | null)[][]) => cells.map((row) => row.map((each) => each?.id ?? null));

function sweep(...cells: Record<string, Json>[]): Clip[] {
  return cells.map((cell) => clip(Object.values(cell).join("-"), { shot: "s", cell }));
}

describe("layoutGrid", () => {
  const styledShot = shot("s", { axes: [{ name: "look", values: ["noir", "pastel"] }, { name: "seed", values: [1, 2, 3] }] });
  const clips = sweep({ look: "noir", seed: 1 }, { look: "noir", seed: 2 }, { look: "noir", seed: 3 }, { look: "pastel", seed: 1 }, { look: "pastel", seed: 2 });

  it("puts the first axis down and the second across, in the order of the file", () => {
    const grid = layoutGrid(styledShot, clips, NONE);
    expect([grid.down?.name, grid.across?.name]).toEqual(["look", "seed"]);
    expect(names(grid.cells)).toEqual([["noir-1", "noir-2", "noir-3"], ["pastel-1", "pastel-2", null]]);
  });
  it("swaps them when asked", () => {
    const grid = layoutGrid(styledShot, clips, { ...NONE, across: "look", down: "seed" });
    expect(names(grid.cells)).toEqual([["noir-1", "pastel-1"], ["noir-2", "pastel-2"], ["noir-3", null]]);
  });
  it("shows one axis alone when nothing is down, and fixes the other", () => {
    const grid = layoutGrid(styledShot, clips, { across: "seed", down: ABSENT, fixed: { look: "pastel" } });
    expect(names(grid.cells)).toEqual([["pastel-1", "pastel-2", null]]);
    expect(grid.rest.map(({ axis, key }) => [axis.name, key])).toEqual([["look", "pastel"]]);
  });
  it("fixes further axes to values for which there are clips", () => {
    const lens = shot("s", { axes: [...styledShot.axes, { name: "lens", values: ["35", "85"] }] });
    const grid = layoutGrid(lens, sweep({ look: "noir", seed: 1, lens: "85" }, { look: "pastel", seed: 1, lens: "85" }), NONE);
    expect(grid.rest[0]?.key).toBe('"85"');
    expect(names(grid.cells)[0]?.[0]).toBe("noir-1-85");
  });
  it("keeps numbers and texts apart, and shows cells that lack an axis", () => {
    const mixed = shot("s", { axes: [{ name: "v", values: [1, "1"] }] });
    const grid = layoutGrid(mixed, [...sweep({ v: 1 }, { v: "1" }), clip("none", { shot: "s" })], { ...NONE, across: "v" });
    expect(grid.columns.map((column) => column.key)).toEqual(["1", '"1"', ABSENT]);
    expect(grid.cells[0]?.map((each) => each?.cell["v"])).toEqual([1, "1", undefined]);
  });
  it("treats takes as an axis", () => {
    const grid = layoutGrid(shot("lamp", { takes: 3 }), [1, 2, 3].map((take) => clip(`lamp#${take}`, { take })), { ...NONE, across: TAKE_AXIS });
    expect(names(grid.cells)).toEqual([["lamp#1", "lamp#2", "lamp#3"]]);
  });
  it("is one cell for a shot without axes", () => {
    expect(names(layoutGrid(shot("sea"), [clip("sea")], NONE).cells)).toEqual([["sea"]]);
  });
  it("takes axes with the names of object members", () => {
    const odd = shot("s", { axes: [{ name: "constructor", values: ["a", "b"] }] });
    expect(names(layoutGrid(odd, sweep({ constructor: "a" } as never), { ...NONE, across: "constructor", fixed: { __proto__: "x" } as never }).cells)).toEqual([["a", null]]);
  });
});
