import { describe, expect, it } from "vitest";
import { MAX_SELECTED, START, formatRoute, parseRoute, type Route } from "../../src/logic/route";

describe("route", () => {
  it("round-trips everything that it carries", () => {
    const route: Route = {
      view: "grid",
      clip: "storm@look=noir,seed=3#2",
      filter: { query: "rain & fog = 100% #1", shots: ["storm", "a?b"], models: ["m"], ratings: ["5", "rejected"], states: ["failed"], axes: { look: ["noir", '"1"'], "a.b": ["x"] } },
      sort: "cost",
      descending: true,
      selected: ["a", "b#2", "ünï 🚢"],
      shot: "storm",
      grid: { across: "seed", down: "look", fixed: { lens: "85" } },
      mode: "wipe",
    };
    expect(parseRoute(formatRoute(route))).toEqual(route);
  });
  it("leaves out what is default", () => {
    expect(formatRoute(START)).toBe("#/wall");
    expect(parseRoute("")).toEqual(START);
    expect(parseRoute("#/wall")).toEqual(START);
  });
  it("falls back where a link makes no sense", () => {
    expect(parseRoute("#/nowhere?sort=beauty&mode=x")).toEqual(START);
    expect(parseRoute("#javascript:alert(1)").view).toBe("wall");
  });
  it("survives names of object members and bounds the selection", () => {
    expect(parseRoute("#/wall?axis.__proto__=x&fix.constructor=y").filter.axes["__proto__"]).toEqual(["x"]);
    const many = Array.from({ length: 40 }, (_, index) => `sel=${index}`).join("&");
    expect(parseRoute(`#/wall?${many}&sel=1`).selected).toHaveLength(MAX_SELECTED);
  });
});
