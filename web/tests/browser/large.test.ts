/** A wall of 1,000 clips: what its speed depends on. */
import { expect, it } from "vitest";
import { wall } from "../support/data";
import { useSite } from "../support/site";

const CLIPS = 1_000;
const MAX_NODES_PER_CLIP = 16;
const at = useSite(wall(CLIPS), CLIPS);

it("builds no player, and loads posters as they come into view", async () => {
  const page = await at("");
  await expect.poll(() => page.locator(".card").count()).toBe(CLIPS);
  await expect.poll(() => page.evaluate(() => [...document.querySelectorAll<HTMLImageElement>(".card img")].slice(0, 12).every((image) => image.naturalWidth > 0))).toBe(true);
  const counts = await page.evaluate(() => ({
    players: document.querySelectorAll("video").length,
    nodes: document.querySelectorAll("*").length,
    loaded: [...document.querySelectorAll<HTMLImageElement>(".card img")].filter((image) => image.complete && image.naturalWidth > 0).length,
  }));
  expect(counts.players).toBe(0);
  expect(counts.nodes).toBeLessThan(MAX_NODES_PER_CLIP * CLIPS);
  expect(counts.loaded).toBeLessThan(CLIPS / 4);
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await expect.poll(() => page.evaluate(() => [...document.querySelectorAll<HTMLImageElement>(".card img")].slice(-6).every((image) => image.naturalWidth > 0))).toBe(true);
  expect(await page.locator("video").count()).toBe(0);
});

it("filters while typing", async () => {
  const page = await at("");
  await page.locator("#search").pressSequentially("number 777,");
  await expect.poll(() => page.locator(".card").evaluateAll((cards) => cards.map((card) => card.getAttribute("data-clip")))).toEqual(["cell@777"]);
});
