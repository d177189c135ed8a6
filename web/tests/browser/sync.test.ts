/** Clips that play together. How far they drift apart depends on the machine. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { film } from "../support/data";
import { drawn, frames, ready, selection, useSite } from "../support/site";

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

/** Keeps the process that draws busy: a frame takes a quarter of a second. */
async function drawSlowly(page: Page): Promise<void> {
  await page.evaluate(() => {
    const layers = document.body.appendChild(document.createElement("div"));
    layers.id = "slow";
    for (let layer = 0; layer < 3; layer++) layers.appendChild(document.createElement("div")).style.cssText = "position: fixed; inset: 0; backdrop-filter: blur(30px)";
    layers.animate([{ opacity: 1 }, { opacity: 0.5 }], { duration: 1_000, iterations: Infinity });
  });
  await drawn(page);
}

it("shows the frame of the second of two steps in a row, where drawing is slow", async () => {
  const page = await at(`#/compare?${selection("harbor@look=noir,seed=1")}`);
  await ready(page, 1);
  const picture = async () => {
    await drawn(page);
    return (await page.locator(".stage").screenshot()).toString("base64");
  };
  const seek = async (frame: number) => {
    await page.getByRole("slider", { name: "Time" }).fill(String(frame));
    await expect.poll(() => frames(page)).toEqual([frame]);
    return picture();
  };
  await drawn(page);
  const wanted = await seek(2);
  expect(await seek(0)).not.toBe(wanted);
  await drawSlowly(page);
  await page.getByRole("button", { name: "One frame forward" }).evaluate((button: HTMLElement) => {
    button.click();
    button.click();
  });
  await expect.poll(() => frames(page)).toEqual([2]);
  await page.evaluate(() => document.querySelector("#slow")?.remove());
  await expect.poll(async () => (await picture()) === wanted).toBe(true);
});
