/** The grid of a sweep, and frames that all clips stand on. */
import { describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { film } from "../support/data";
import { frames, ready, selection, useSite } from "../support/site";

const at = useSite(film());
const withProxies = useSite({
  ...film(),
  clips: film().clips.map((clip) => ({ ...clip, proxy: "clips/harbor-noir-1.mp4" })),
});
const harbor = (look: string, seed: number) => `harbor@look=${look},seed=${seed}`;

describe("grid", () => {
  it("lays out a sweep, swaps its axes and fixes one", async () => {
    const page = await at("#/grid?shot=harbor");
    await expect.poll(() => page.locator(".cell").count()).toBe(24);
    expect(await page.locator("tbody tr").count()).toBe(4);
    await page.keyboard.press("t");
    await expect.poll(() => page.locator("tbody tr").count()).toBe(6);
    await page.getByLabel("Down").selectOption("nothing");
    await expect.poll(() => page.locator(".cell").count()).toBe(4);
    await page.getByLabel("seed", { exact: true }).selectOption("5");
    await expect.poll(() => page.locator(".cell").first().getAttribute("data-clip")).toBe(harbor("noir", 5));
  });

  it("names columns and rows by their values, and numbers with their axis", async () => {
    const page = await at("#/grid?shot=harbor");
    await expect.poll(() => page.locator("thead th").allInnerTexts()).toEqual(["look", "seed 1", "seed 2", "seed 3", "seed 4", "seed 5", "seed 6"]);
    expect((await page.locator("tbody th").allInnerTexts())[0]).toBe("noir");
  });

  it("selects cells, which are then what plays, and compares them", async () => {
    const page = await at("#/grid?shot=harbor");
    await page.locator(`[data-clip="${harbor("golden", 2)}"] .cell-open`).click();
    await page.locator(`[data-clip="${harbor("neon", 4)}"] .cell-open`).click();
    // The selection does not cover the player.
    await expect.poll(() => page.evaluate(() => {
      const edge = (name: string) => document.querySelector(name)?.getBoundingClientRect();
      return (edge(".transport")?.bottom ?? 0) - (edge(".selection")?.top ?? 0);
    })).toBeLessThanOrEqual(0.5);
    await expect.poll(() => page.locator(".cell video").count()).toBe(2);
    await page.getByRole("button", { name: "Compare 2" }).click();
    await expect.poll(() => page.locator(".compare-clip").count()).toBe(2);
  });

  it("steps, scrubs and offsets by frames, the same in all clips", async () => {
    const page = await at(`#/grid?shot=harbor&${selection(harbor("noir", 1), harbor("noir", 2), harbor("neon", 3), harbor("golden", 6))}`);
    await ready(page, 4);
    await page.keyboard.press(".");
    await page.keyboard.press(".");
    await page.keyboard.press(".");
    await expect.poll(() => frames(page)).toEqual([3, 3, 3, 3]);
    await page.keyboard.press(",");
    await expect.poll(() => frames(page)).toEqual([2, 2, 2, 2]);
    await page.getByRole("slider", { name: "Time" }).fill("60");
    await expect.poll(() => frames(page)).toEqual([60, 60, 60, 60]);
    expect(await page.getByRole("slider", { name: "Time" }).getAttribute("aria-valuetext")).toContain("frame 60 of 95");
    await page.getByRole("button", { name: "Offsets" }).click();
    await page.getByRole("spinbutton").nth(1).fill("12");
    await page.getByRole("spinbutton").nth(1).blur();
    await expect.poll(() => frames(page)).toEqual([60, 72, 60, 60]);
  });

  it("plays up to nine clips in full, and more by their proxies", async () => {
    const names = (view: Page) => view.locator(".cell video").evaluateAll((videos) => videos.map((video) => video.getAttribute("src")?.replace("clips/", "")));
    const full = await at("#/grid?shot=harbor");
    await expect.poll(() => names(full)).toHaveLength(9);
    expect(await names(full)).toContain("harbor-pastel-3.mp4");
    const page = await withProxies("#/grid?shot=harbor");
    await expect.poll(() => names(page)).toEqual(Array.from({ length: 24 }, () => "harbor-noir-1.mp4"));
    await page.locator(`[data-clip="${harbor("golden", 2)}"] .cell-open`).click();
    await expect.poll(() => names(page)).toEqual(["harbor-golden-2.mp4"]);
  });
});
