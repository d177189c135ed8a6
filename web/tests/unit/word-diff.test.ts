import { describe, expect, it } from "vitest";
import { side, wordDiff, splitWords } from "../../src/logic/word-diff";

const brief = (before: string, after: string) =>
  wordDiff(before, after).map((part) => `${{ same: "=", removed: "-", added: "+" }[part.kind]}${part.text}`);

describe("wordDiff", () => {
  it("marks a replaced word", () => {
    expect(brief("a calm sea at dusk", "a wild sea at dusk")).toEqual(["=a ", "-calm", "+wild", "= sea at dusk"]);
  });
  it("finds equal texts equal, and empty ones", () => {
    expect(brief("the sea", "the sea")).toEqual(["=the sea"]);
    expect(brief("", "")).toEqual([]);
    expect(brief("", "new")).toEqual(["+new"]);
    expect(brief("old", "")).toEqual(["-old"]);
  });
  it("loses no text on either side", () => {
    const before = "slow push in, 35 mm film grain; rain.\n\nA lamp.";
    const after = "fast push out, 35 mm; heavy rain.\n\nTwo lamps, and 👩‍👩‍👧‍👦.";
    const parts = wordDiff(before, after);
    expect(parts.filter((part) => part.kind !== "added").map((part) => part.text).join("")).toBe(before);
    expect(parts.filter((part) => part.kind !== "removed").map((part) => part.text).join("")).toBe(after);
  });
  it("keeps emoji sequences and combining marks whole", () => {
    expect(splitWords("a 👩‍👩‍👧‍👦 e\u0301")).toContain("👩‍👩‍👧‍👦");
    expect(brief("👩‍👩‍👧‍👦", "👨‍👩‍👧‍👦")).toEqual(["-👩‍👩‍👧‍👦", "+👨‍👩‍👧‍👦"]);
  });
  it("shows what differs in long texts as one replacement", () => {
    const text = (seed: number) => Array.from({ length: 3_000 }, (_, index) => `w${(index * seed) % 997}`).join(" ");
    const parts = wordDiff(text(7), text(11));
    expect(parts.filter((part) => part.kind !== "same").length).toBe(2);
    expect(parts.filter((part) => part.kind !== "added").map((part) => part.text).join("")).toBe(text(7));
  });
  it("gives each side its own words", () => {
    const parts = wordDiff("a calm sea", "a wild sea");
    expect(side(parts, "before")).toEqual([{ text: "a ", differs: false }, { text: "calm", differs: true }, { text: " sea", differs: false }]);
    expect(side(parts, "after").map((part) => part.text).join("")).toBe("a wild sea");
  });
});
