/** `cargo xtask bench view`: times and rates of the page. They depend on the machine, so that no other test asserts them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wordDiff } from "../../src/logic/word-diff";
import { film, wall } from "../support/data";
import { at, drifts, firstPictures, plainPage, processorTimes, report, scroll, stolen } from "../support/measure";
import { ready, selection, useBrowser, visit, writeSite } from "../support/site";

const CLIPS = 1_000;
const MAX_FIRST_MS = 1_000;
const MIN_FRAMES_PER_SECOND = 40;
const MAX_FILTER_MS = 500;
const MAX_DIFFERENCE_MS = 500;
const SECONDS = 30;
/** Frames that the furthest clip may be off, by the number of clips. */
const MAX_DRIFT: [number, number][] = [[4, 0.5], [9, 1]];
const held = useBrowser();
let times: number[] = [];

beforeAll(async () => {
  times = await processorTimes();
});
afterAll(async () => {
  const share = await stolen(times);
  if (share > 0.02) await report(`\nThe host of this machine took ${(100 * share).toFixed(0)} % of the processors' time meanwhile: these figures cannot be compared.`);
});

describe("a wall of 1,000 clips", () => {
  it("shows its first posters and scrolls", async () => {
    const site = await writeSite(wall(CLIPS), CLIPS);
    await report("| 1,000 clips | first 12 pictures | frames per second while scrolling | 95 % of frames within | pictures loaded |\n|---|---|---|---|---|");
    const measure = async (name: string, url: string) => {
      const { page } = await visit(held.browser, "about:blank");
      const first = await firstPictures(page, url);
      await page.waitForTimeout(1_000);
      const { rate, p95 } = await scroll(page);
      const loaded = await page.evaluate(() => [...document.images].filter((image) => image.complete && image.naturalWidth > 0).length);
      await report(`| ${name} | ${first.toFixed(0)} ms | ${rate.toFixed(1)} | ${p95.toFixed(0)} ms | ${loaded} |`);
      await page.context().close();
      return { first, rate };
    };
    await measure("a plain page of lazy images", await plainPage(site.folder, "img", CLIPS));
    const { first, rate } = await measure("the wall", site.url);
    await measure("a plain page of `<video>`", await plainPage(site.folder, "video", CLIPS));
    await site.remove();
    expect.soft(first, "milliseconds until the first 12 pictures").toBeLessThan(MAX_FIRST_MS);
    expect.soft(rate, "frames per second while scrolling").toBeGreaterThanOrEqual(MIN_FRAMES_PER_SECOND);
  });

  it("filters while typing", async () => {
    const site = await writeSite(wall(CLIPS));
    const { page } = await visit(held.browser, site.url);
    await expect.poll(() => page.locator(".card").count()).toBe(CLIPS);
    const took = await page.evaluate(async () => {
      const input = document.querySelector<HTMLInputElement>("#search");
      const start = performance.now();
      if (input) input.value = "golden number 77";
      input?.dispatchEvent(new InputEvent("input", { bubbles: true }));
      while (document.querySelectorAll(".card").length > 50) await new Promise(requestAnimationFrame);
      return performance.now() - start;
    });
    await report(`\nFiltering 1,000 clips: ${took.toFixed(0)} ms.`);
    await page.context().close();
    await site.remove();
    expect.soft(took, "milliseconds until the filtered wall").toBeLessThan(MAX_FILTER_MS);
  });
});

it("compares prompts", async () => {
  // Just below the limit from which on the words are not compared.
  const text = (seed: number) => Array.from({ length: 990 }, (_, index) => `w${(index * seed) % 997}`).join(" ");
  const start = performance.now();
  wordDiff(text(7), text(11));
  const took = performance.now() - start;
  await report(`\nDifferences between two prompts of 990 words: ${took.toFixed(0)} ms.`);
  expect.soft(took, "milliseconds for the differences").toBeLessThan(MAX_DIFFERENCE_MS);
});

describe("clips in step", () => {
  it.each(MAX_DRIFT)("%i clips stay within %f frames", async (count, bound) => {
    const site = await writeSite(film());
    const clips = film().clips.filter((clip) => clip.shot === "harbor").slice(0, count);
    const { page } = await visit(held.browser, `${site.url}#/grid?shot=harbor&${selection(...clips.map((clip) => clip.id))}`);
    await ready(page, count);
    await page.keyboard.press(" ");
    await page.waitForTimeout(2_000);
    const samples = await drifts(page, SECONDS, 24);
    if (count === MAX_DRIFT[0]?.[0]) await report("\n| clips in step for 30 s | drift in frames: median | 95 % | maximum | bound |\n|---|---|---|---|---|");
    await report(`| ${count} | ${at(samples, 0.5).toFixed(2)} | ${at(samples, 0.95).toFixed(2)} | ${at(samples, 1).toFixed(2)} | ${bound} |`);
    await page.context().close();
    await site.remove();
    expect.soft(at(samples, 1), "frames of drift").toBeLessThanOrEqual(bound);
  });
});
