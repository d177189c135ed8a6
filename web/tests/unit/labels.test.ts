import { describe, expect, it } from "vitest";
import type { Clip, Json } from "../../src/data/types";
import { distinct, labelClips, labelText, wrap } from "../../src/logic/labels";
import { clip, film, page, shot, sweep60 } from "../support/data";

const labels = (clips: Clip[]) => [...labelClips(page("p", [shot("s")], clips)).values()].map(labelText);
const sweep = (...cells: Record<string, Json>[]) => cells.map((cell, index) => clip(`s@${index}`, { shot: "s", cell }));

describe("labelClips", () => {
  it("shows values alone, in the order of the cell, and of a table's row its name", () => {
    const noir = { light: "hard", name: "noir" };
    expect(labels(sweep({ style: noir, move: "push in" }, { style: { light: "warm", name: "gold" }, move: "pan" }))).toEqual(["noir · push in", "gold · pan"]);
  });
  it("names the axis where a value alone would be ambiguous", () => {
    expect(labels(sweep({ move: "wide", seed: 1 }, { move: "pan", size: "wide", seed: 2 }))).toEqual(["move wide · seed 1", "pan · size wide · seed 2"]);
  });
  it("leaves out what all clips have", () => {
    expect(labels(sweep({ look: "noir", move: "pan" }, { look: "noir", move: "push in" }))).toEqual(["pan", "push in"]);
    expect(labels(sweep({ look: "noir" }))).toEqual(["s"]);
  });
  it("tells 60 clips of three axes apart, and takes of a storyboard", () => {
    expect(new Set([...labelClips(sweep60()).values()].map(labelText)).size).toBe(60);
    const named = labelClips(film());
    expect(["lamp#1", "lamp#2"].map((id) => labelText(named.get(id) ?? { name: "", values: [] }))).toEqual(["lamp#1 · seed 1", "lamp#2 · seed 2"]);
    expect(named.get("sea")?.prompt).toBe("The storm breaks over the sea: high waves, rain, dark clouds.");
    expect(named.get("harbor@look=noir,seed=1")).toEqual({ name: "harbor", instance: "harbor · noir · seed 1", values: ["noir", "seed 1"], prompt: "" });
  });
});

it("labels twenty thousand clips in one go", () => {
  const cells = Array.from({ length: 20_000 }, (_, index) => ({ look: "noir", seed: index, of: `a ${index % 7}` }));
  const began = performance.now();
  expect(labels(sweep(...cells))[19_999]).toBe("seed 19999 · a 0");
  // In quadratic time it would take minutes.
  expect(performance.now() - began).toBeLessThan(5_000);
});

describe("distinct", () => {
  const shortened = (texts: string[], max: number) => texts.map((text) => distinct(texts, max).get(text));
  it("keeps short texts, and cuts what long ones share", () => {
    const long = "a fisherman in a worn yellow raincoat who holds a ";
    expect(shortened(["a cat", `${long}lantern up`, `${long}rope`], 24)).toEqual(["a cat", "…lantern up", "…rope"]);
    expect(shortened([`rope ${long}`, `lantern ${long}`], 24)).toEqual(["rope a fisherman in a…", "lantern a fisherman…"]);
  });
  it("never makes two texts equal, and breaks no character", () => {
    const texts = [..."👩‍🚀🚢🌊"].map((letter) => `${"漢字".repeat(40)}${letter}${"x".repeat(50)}`);
    const short = shortened(texts, 20) as string[];
    expect(new Set(short).size).toBe(texts.length);
    for (const each of short) expect([[...each].length <= 20, /\p{Surrogate}/u.test(each)]).toEqual([true, false]);
  });
});

describe("wrap", () => {
  it("breaks at spaces, and words that are too long", () => {
    expect(wrap("noir · push in · a cat", 10)).toEqual(["noir ·", "push in ·", "a cat"]);
    expect(wrap("x".repeat(12), 10)).toEqual(["x".repeat(10), "xx"]);
    expect(wrap("漢字漢字漢字", 8)).toEqual(["漢字漢字", "漢字"]);
  });
});
