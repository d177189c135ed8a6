/** Clips that play together. How far they drift apart depends on the machine. */
import { expect, it } from "vitest";
import { film } from "../support/data";
import { frames, ready, selection, useSite } from "../support/site";

const at = useSite(film());

it.each([4, 9])("%i clips all play, and stand on the same frame after a pause", async (count) => {
  const clips = film().clips.filter((clip) => clip.shot === "harbor").slice(0, count);
  const page = await at(`#/grid?shot=harbor&${selection(...clips.map((clip) => clip.id))}`);
  await ready(page, count);
  expect(await page.locator("video").count()).toBe(count);
  await page.keyboard.press(" ");
  await expect.poll(() => page.evaluate(() => [...document.querySelectorAll("video")].every((video) => !video.paused && video.currentTime > 0.5))).toBe(true);
  expect(await page.evaluate(() => [...document.querySelectorAll("video")].every((video) => video.muted))).toBe(true);
  await page.keyboard.press(" ");
  const isPaused = async () => {
    const at = await frames(page);
    return new Set(at).size === 1 && at[0] !== -1 && (await page.evaluate(() => [...document.querySelectorAll("video")].every((video) => video.paused)));
  };
  await expect.poll(isPaused).toBe(true);
});
