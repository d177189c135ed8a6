/** Takes the screenshots of docs/images: `npm run shots`, with ALL=1 also of further views and of a phone. */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { it } from "vitest";
import type { Page } from "playwright-core";
import type { ViewerData } from "../../src/data/types";
import { film, sweep60 } from "../support/data";
import { details, useProjects } from "../support/live";
import { useBrowser, visit, writeSite } from "../support/site";

const held = useBrowser();
const folder = process.env["SHOTS"] ?? fileURLToPath(new URL("../../../docs/images", import.meta.url));
const harbor = (look: string, seed: number) => `sel=${encodeURIComponent(`harbor@look=${look},seed=${seed}`)}`;
const VIEWS: [string, string][] = [
  ["wall", "#/wall"],
  ["grid", "#/grid?shot=harbor"],
  ["compare", `#/compare?${harbor("noir", 1)}&${harbor("golden", 1)}`],
  ["story", "#/story"],
];
/** Sixty clips of three axes. */
const cell = (look: string, who: string) => `sel=${encodeURIComponent(`harbor@look=${look},move=push-in,who=${who}`)}`;
const SWEEP: [string, string][] = [
  ["wall", "#/wall"],
  ["grid", "#/grid"],
  ["compare", `#/compare?${cell("noir", "a-cat")}&${cell("golden", "a-cat")}&${cell("neon", "a-cat")}`],
  ["story", "#/story"],
];
const EXTRA: [string, string][] = [
  ["graph", "#/graph"],
  ["wipe", `#/compare?mode=wipe&${harbor("noir", 1)}&${harbor("golden", 1)}`],
  ["difference", `#/compare?mode=difference&${harbor("noir", 1)}&${harbor("noir", 2)}`],
  ["details", "#/wall?clip=lamp%233"],
];

const HARBOR = `version: 1
name: harbor
params: { look: "35 mm film, overcast light" }
defaults: { model: modelb-video-480p, seconds: 2, size: 854x480 }
shots:
  # the lamp in the tower
  - { id: lamp, takes: 3, prompt: "the lamp of the lighthouse turns on, rain on the glass. {{ look }}" }
  - { id: sea, continues: lamp, prompt: "the storm breaks over the sea. {{ look }}" }
  - { id: ferry, prompt: "the last ferry leaves the harbor at dusk. {{ look }}" }
film: { output: harbor.mp4 }
`;

async function waitUntilStable(page: Page): Promise<void> {
  await page.waitForLoadState("load");
  await page.evaluate(() => Promise.race([
    Promise.all([...document.querySelectorAll("video")].map((video) => video.readyState >= 2 || new Promise((done) => video.addEventListener("loadeddata", done)))),
    new Promise((done) => setTimeout(done, 8_000)),
  ]));
  await page.waitForTimeout(500);
}

const project = useProjects();

it("takes screenshots of the live page", async () => {
  await mkdir(folder, { recursive: true });
  const harbor = await project(HARBOR);
  await harbor.runner("run", "harbor.yaml");
  const server = await harbor.serve();
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await harbor.open(server, { colorScheme, viewport: { width: 1120, height: 700 } });
    await details(page, "lamp#2");
    await page.getByRole("button", { name: "Edit…" }).click();
    const prompt = page.getByRole("textbox", { name: "Prompt" });
    await prompt.fill((await prompt.inputValue()).replace("rain", "snow"));
    await page.locator(".dialog .estimate").waitFor();
    await waitUntilStable(page);
    await page.screenshot({ path: `${folder}/viewer-edit-${colorScheme}.png` });
  }
});

it("takes screenshots", async () => {
  await mkdir(folder, { recursive: true });
  const site = await writeSite(film());
  const all = process.env["ALL"] === "1";
  try {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const [name, hash] of all ? [...VIEWS, ...EXTRA] : VIEWS) {
        const { page } = await visit(held.browser, site.url + hash, { colorScheme, viewport: { width: 1120, height: 700 } });
        await waitUntilStable(page);
        if (name === "grid" || name === "compare") {
          await page.keyboard.press(".");
          await page.evaluate(() => document.querySelector<HTMLInputElement>(".scrub")?.focus());
          for (let step = 0; step < 5; step++) await page.keyboard.press("PageUp");
          await page.waitForTimeout(1_500);
          await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
        }
        if (name === "story") {
          // While a film plays, the browser hides its controls.
          await page.getByRole("group", { name: "Cuts" }).getByRole("button").nth(1).click();
          await page.evaluate(() => document.querySelector("video")?.play());
          await page.mouse.move(0, 0);
          await page.waitForTimeout(3_500);
        }
        await page.screenshot({ path: `${folder}/viewer-${name}-${colorScheme}.png` });
        await page.context().close();
      }
    }
    if (all) {
      for (const [name, hash] of [...VIEWS, ...EXTRA]) {
        const { page } = await visit(held.browser, site.url + hash, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
        await waitUntilStable(page);
        await page.screenshot({ path: `${folder}/viewer-${name}-phone.png` });
        await page.context().close();
      }
    }
  } finally {
    await site.remove();
  }
});

it("takes screenshots of a sweep, wide and on a phone", async () => {
  const data: ViewerData = sweep60();
  const site = await writeSite(data);
  try {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const [name, hash] of SWEEP) {
        for (const [size, options] of [["wide", { viewport: { width: 1440, height: 900 } }], ["phone", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }]] as const) {
          const { page } = await visit(held.browser, site.url + hash, { colorScheme, ...options });
          await waitUntilStable(page);
          await page.screenshot({ path: `${folder}/viewer-sweep-${name}-${size}-${colorScheme}.png` });
          await page.context().close();
        }
      }
    }
  } finally {
    await site.remove();
  }
});
