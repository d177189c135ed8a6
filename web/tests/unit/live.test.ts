/** Parts of the live page that need no server. */
import { expect, it } from "vitest";
import { shareClips } from "../../src/data/model";
import { diffLines } from "../../src/live/diff";
import { clip } from "../support/data";

it("keeps the objects of clips that have not changed", () => {
  const before = [clip("a"), clip("b"), clip("gone")];
  const previous = new Map(before.map((each) => [each.id, each]));
  const [a, b, fresh] = shareClips(previous, [clip("a"), clip("b", { state: "failed" }), clip("new")]);
  expect(a).toBe(before[0]);
  expect(b).not.toBe(before[1]);
  expect([b?.state, fresh?.id]).toEqual(["failed", "new"]);
});

it("tells the lines of a difference apart", () => {
  const diff = "--- a/film.yaml\n+++ b/film.yaml\n@@ -1,2 +1,2 @@\n version: 1\n--- old\n+++ new\n";
  expect(diffLines(diff)).toEqual([
    { kind: "place", text: "@@ -1,2 +1,2 @@" },
    { kind: "same", text: " version: 1" },
    { kind: "remove", text: "--- old" },
    { kind: "add", text: "+++ new" },
  ]);
});
