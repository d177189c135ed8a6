/** Takes the screenshots of docs/images: `npm run shots`, with ALL=1 also of further views and of a phone. */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { it } from "vitest";
import type { Page } from "playwright-core";
import { film } from "../support/data";
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
const EXTRA: [string, string][] = [
  ["graph", "#/graph"],
  ["wipe", `#/compare?mode=wipe&${harbor("noir", 1)}&${harbor("golden", 1)}`],
  ["difference", `#/compare?mode=difference&${harbor("noir", 1)}&${harbor("noir", 2)}`],
  ["details", "#/wall?clip=lamp%233"],
];

async function settle(page: Page): Promise<void> {
  await page.waitForLoadState("load");
  await page.evaluate(() => Promise.race([
    Promise.all([...document.querySelectorAll("video")].map((video) => video.readyState >= 2 || new Promise((done) => video.addEventListener("loadeddata", done)))),
    new Promise((done) => setTimeout(done, 8_000)),
  ]));
  await page.waitForTimeout(500);
}

it("takes screenshots", async () => {
  await mkdir(folder, { recursive: true });
  const site = await writeSite(film());
  const all = process.env["ALL"] === "1";
  try {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const [name, hash] of all ? [...VIEWS, ...EXTRA] : VIEWS) {
        const { page } = await visit(held.browser, site.url + hash, { colorScheme, viewport: { width: 1120, height: 700 } });
        await settle(page);
        if (name === "grid" || name === "compare") {
          await page.keyboard.press(".");
          await page.evaluate(() => document.querySelector<HTMLInputElement>(".scrub")?.focus());
          for (let step = 0; step < 5; step++) await page.keyboard.press("PageUp");
          await page.waitForTimeout(1_500);
          await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
        }
        await page.screenshot({ path: `${folder}/viewer-${name}-${colorScheme}.png` });
        await page.context().close();
      }
    }
    if (all) {
      for (const [name, hash] of [...VIEWS, ...EXTRA]) {
        const { page } = await visit(held.browser, site.url + hash, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
        await settle(page);
        await page.screenshot({ path: `${folder}/viewer-${name}-phone.png` });
        await page.context().close();
      }
    }
  } finally {
    await site.remove();
  }
});
