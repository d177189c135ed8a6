import { expect, it } from "vitest";
import { buildModel } from "../../src/data/model";
import { offers } from "../../src/logic/offers";
import { START } from "../../src/logic/route";
import { film, sweep60 } from "../support/data";

it("offers the takes of shots and the rows of sweeps that have videos", () => {
  const list = offers(buildModel(film()), START);
  expect(list.slice(0, 3).map(({ label, clips }) => [label, clips.length])).toEqual([["Takes of lamp", 2], ["Takes of gulls", 2], ["harbor · noir", 6]]);
  const sweep = offers(buildModel(sweep60()), { shot: "harbor", grid: { across: "who", down: "move", fixed: { look: '{"name":"neon","light":"night, neon light on wet streets, reflections, saturated color"}' } } });
  expect(sweep[1]?.label).toBe("harbor · push in · neon");
  expect(sweep[1]?.clips.map((clip) => clip.id)).toEqual(["a-fisherman-with-a-lantern", "a-fisherman-with-a-rope", "a-cat"].map((who) => `harbor@look=neon,move=push-in,who=${who}`));
});
