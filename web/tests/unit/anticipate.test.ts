import { expect, it } from "vitest";
import { anticipate } from "../../src/live/anticipate";
import { film } from "../support/data";

it("shows picks and ratings before the server does", () => {
  const picked = (choice: string | null, shot = choice?.replace(/[@#].*/, "") ?? "") => {
    const data = anticipate(film(), { action: "pick", shot, choice });
    return [data.clips.filter((clip) => clip.is_picked).map((clip) => clip.id), data.shots.find((each) => each.id === shot)?.pick ?? null];
  };
  expect(picked("gulls#2")).toEqual([["lamp#1", "gulls#2"], "gulls#2"]);
  expect(picked("lamp#2")).toEqual([["lamp#2"], "lamp#2"]);
  expect(picked("harbor@look=noir,seed=3")).toEqual([["lamp#1", "harbor@look=noir,seed=3"], "harbor@look=noir,seed=3"]);
  // Which render counts, and what a removed pick leads to, is known to the server.
  expect([picked("2", "sunrise"), picked(null, "lamp")]).toEqual([[["lamp#1"], null], [["lamp#1"], "lamp#1"]]);
  const rated = anticipate(film(), { action: "rate", clip: "sea", rating: 4 }).clips.filter((clip) => clip.rating !== undefined);
  expect(rated.map((clip) => [clip.id, clip.rating])).toEqual([["sea", 4]]);
});
