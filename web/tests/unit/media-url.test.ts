import { describe, expect, it } from "vitest";
import { mediaUrl } from "../../src/logic/media-url";
import { flatten, valueKey, valueLabel } from "../../src/logic/values";
import { readData } from "../../src/data/read";
import { page } from "../support/data";

describe("mediaUrl", () => {
  it("encodes each segment", () => {
    expect(mediaUrl("posters/a#b?c%d e.png")).toBe("posters/a%23b%3Fc%25d%20e.png");
  });
  it("refuses what leaves the folder", () => {
    for (const path of ["../a.mp4", "a/../../b.mp4", "/etc/passwd", "//host/a.mp4", "./a", "a//b", "", null]) expect(mediaUrl(path)).toBeNull();
    expect(mediaUrl("https://example.com/a.mp4")).toBeNull();
    expect(mediaUrl("\ud800.mp4")).toBeNull();
  });
  it("leaves no scheme", () => {
    expect(mediaUrl("javascript:alert(1)")).toBe("javascript%3Aalert(1)");
    expect(mediaUrl("x\\..\\y.mp4")).toBe("x%5C..%5Cy.mp4");
  });
});

describe("values", () => {
  it("have keys that tell types apart", () => {
    expect(["1", 1, true, "true", null, "null", "noir", { a: 1 }].map((value) => valueKey(value))).toEqual(['"1"', "1", "true", '"true"', "null", '"null"', "noir", '{"a":1}']);
  });
  it("have labels as the runner names instances", () => {
    expect(valueLabel({ age: 3, name: "Mara" })).toBe("Mara");
    expect(valueLabel({ coat: "blue" })).toBe("blue");
    expect(valueLabel([1, 2])).toBe("[1,2]");
    expect(valueLabel(undefined)).toBe("–");
  });
  it("are flattened to leaves", () => {
    expect([...flatten({ a: { b: [1, { c: "x" }], d: {} } })]).toEqual([["a.b[0]", 1], ["a.b[1].c", "x"], ["a.d", {}]]);
  });
});

describe("readData", () => {
  it("reads version 4 and explains everything else", () => {
    expect(readData(JSON.stringify(page("p", [], [])))).toHaveProperty("data");
    for (const text of ["", "3", "null", '{"__VIEWER_DATA__":0}', '{"version":1}', '{"version":2}', '{"version":3}']) expect(readData(text)).toHaveProperty("problem");
  });
});
