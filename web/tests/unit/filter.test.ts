import { describe, expect, it } from "vitest";
import { buildModel } from "../../src/data/model";
import { NO_FILTER, filterClips, isFiltered, sortClips, type Filter, type Sort } from "../../src/logic/filter";
import { clip, page, shot } from "../support/data";

const model = buildModel(page("p", [shot("a"), shot("b")], [
  clip("a@look=noir", { cell: { look: "noir" }, prompt: "Rain on the pier", cost: 300, seed: 4 }),
  clip("a@look=pastel", { cell: { look: "pastel" }, prompt: "rain at dawn", cost: null, seconds: 9 }),
  clip("b", { state: "failed", model: "other", cost: 100, seconds: null, prompt: null, elapsed_ms: null }),
]));
const ids = (change: Partial<Filter>) => filterClips(model, { ...NO_FILTER, ...change }).map((each) => each.id);
const sorted = (sort: Sort, descending = false) => sortClips(model, model.data.clips, sort, descending).map((each) => each.id);

describe("filterClips", () => {
  it("needs every term, in any order and case", () => {
    expect(ids({ query: "RAIN pier" })).toEqual(["a@look=noir"]);
    expect(ids({ query: " rain " })).toEqual(["a@look=noir", "a@look=pastel"]);
    expect(ids({ query: "rain sunshine" })).toEqual([]);
  });
  it("finds parameters, seeds and names", () => {
    expect(ids({ query: "look=pastel" })).toEqual(["a@look=pastel"]);
    expect(ids({ query: "seed=4" })).toEqual(["a@look=noir"]);
    expect(ids({ query: "task_b" })).toEqual(["b"]);
  });
  it("combines values of a filter by or, filters by and", () => {
    expect(ids({ shots: ["a", "b"] })).toHaveLength(3);
    expect(ids({ shots: ["a"], axes: { look: ["pastel"] } })).toEqual(["a@look=pastel"]);
    expect(ids({ states: ["failed"], models: ["other"] })).toEqual(["b"]);
    expect(ids({ axes: { look: [] } })).toHaveLength(3);
    expect(ids({ axes: { toString: ["x"] } as never })).toEqual([]);
  });
  it("knows whether it filters", () => {
    expect(isFiltered(NO_FILTER)).toBe(false);
    expect(isFiltered({ ...NO_FILTER, axes: { look: [] }, query: "  " })).toBe(false);
    expect(isFiltered({ ...NO_FILTER, axes: { look: ["noir"] } })).toBe(true);
  });
});

describe("sortClips", () => {
  it("puts unknown values last in both directions", () => {
    expect(sorted("cost")).toEqual(["b", "a@look=noir", "a@look=pastel"]);
    expect(sorted("cost", true)).toEqual(["a@look=noir", "b", "a@look=pastel"]);
    expect(sorted("duration", true)).toEqual(["a@look=pastel", "a@look=noir", "b"]);
  });
  it("keeps the plan's order among equals", () => {
    expect(sorted("plan")).toEqual(["a@look=noir", "a@look=pastel", "b"]);
    expect(sorted("plan", true)).toEqual(["b", "a@look=pastel", "a@look=noir"]);
    expect(sorted("state")).toEqual(["b", "a@look=noir", "a@look=pastel"]);
    expect(sorted("time")).toEqual(["a@look=noir", "a@look=pastel", "b"]);
  });
});
