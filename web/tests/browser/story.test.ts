/** Films, the graph, and a phone. */
import { describe, expect, it } from "vitest";
import { film, sweep60 } from "../support/data";
import { drawn, ready, selection, useSite } from "../support/site";

const at = useSite(film());
const sweep = useSite(sweep60());

describe("story", () => {
  it("plays the film by chapters with captions", async () => {
    const page = await at("#/story");
    const chapters = page.getByRole("group", { name: "Cuts" }).getByRole("button");
    expect(await chapters.count()).toBe(4);
    await page.waitForFunction(() => (document.querySelector("video")?.readyState ?? 0) >= 1);
    await chapters.nth(2).click();
    await expect.poll(() => page.evaluate(() => document.querySelector("video")?.currentTime ?? 0)).toBeCloseTo(8, 1);
    // At their times, and not for as long as their clip.
    const shown = () =>
      page.evaluate(() => {
        const track = document.querySelector("video")?.textTracks[0];
        const texts = Array.from(track?.activeCues ?? []).map((cue) => (cue as VTTCue).getCueAsHTML().textContent);
        return [track?.mode ?? "", ...texts];
      });
    const seek = (seconds: number) => page.evaluate((time) => ((document.querySelector("video") as HTMLVideoElement).currentTime = time), seconds);
    await expect.poll(shown).toEqual(["showing", "Keeper: Come on. <Light> & more."]);
    await seek(10);
    await expect.poll(shown).toEqual(["showing"]);
    await seek(5);
    await expect.poll(shown).toEqual(["showing", "It comes in faster than they said."]);
    await seek(8);
    await expect.poll(() => chapters.nth(2).getAttribute("aria-current")).toBe("true");
    await page.keyboard.press("]");
    await expect.poll(() => chapters.nth(3).getAttribute("aria-current")).toBe("true");
    await page.keyboard.press("k");
    await expect.poll(async () => (await shown())[0]).toBe("hidden");
  });

  it("says what a film is, and uses the width of the screen", async () => {
    const page = await at("#/story", { viewport: { width: 1440, height: 900 } });
    expect(await page.locator(".film-head").allInnerTexts()).toEqual([expect.stringMatching(/^lighthouse\s+joined\s+4 clips, 3 cuts · 16.0 s/), expect.stringMatching(/4 clips, 3 cuts · 11.5 s$/)]);
    const boxes = await page.locator(".film-stage, .film.playable .strip").evaluateAll((all) => all.map((each) => each.getBoundingClientRect()).map(({ left, right, top, bottom }) => ({ left, right, top, bottom })));
    const [player, strip] = boxes as [DOMRect, DOMRect];
    expect([player.right - player.left > 800, player.bottom < 900, strip.left > player.right, strip.right > 1400, strip.top < player.bottom]).toEqual([true, true, true, true, true]);
    // Nothing is beyond the edge: not the strip, and not on a phone.
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.locator(".strip").first().evaluate((each) => each.scrollWidth <= each.clientWidth)).toBe(true);
    expect(await page.locator(".chapter-name").innerText()).toBe("1 of 4 breakwater");
  });

  it("labels the clips of a sweep without a film", async () => {
    const page = await sweep("#/story");
    const names = await page.locator(".strip .card-name").allInnerTexts();
    expect([names.length, new Set(names).size, names[0]]).toEqual([60, 60, "noir · crane up · a fisherman with a lantern"]);
  });

  it("shows an open pick as a choice", async () => {
    const page = await at("#/story");
    expect(await page.locator("main").innerText()).toMatch(/epilogue[\s\S]*waits for a pick[\s\S]*Choose 1 of 2 takes/);
    expect(await page.getByRole("list", { name: "Takes of lamp" }).getByRole("button").count()).toBe(3);
  });

  it("shows the renders of a shot under it, and opens their players", async () => {
    const page = await at("#/story");
    const renders = page.getByRole("list", { name: "Renders of sunrise" }).getByRole("button");
    await expect.poll(() => renders.locator("img").evaluateAll((images) => images.map((image) => (image as HTMLImageElement).naturalWidth > 0))).toEqual(Array(5).fill(true));
    expect((await renders.allInnerTexts()).map((text) => text.trim())).toEqual(["1", "2", "3 used", "4", "5"]);
    await renders.nth(1).click();
    await expect.poll(() => page.locator(".details h2").innerText()).toBe("sunrise");
    await ready(page, 6);
    const isInSight = () => page.locator(".renders").evaluate((list) => list.getBoundingClientRect().top < innerHeight && list.getBoundingClientRect().bottom > 48);
    await expect.poll(isInSight).toBe(true);
    expect((await page.locator(".renders li").allInnerTexts()).filter((text) => text.includes("used")).length).toBe(1);
  });
});

it("shows titles and files of one's own as such", async () => {
  const page = await at("#/story");
  const strip = page.locator(".film", { hasText: "epilogue" }).locator(".strip > li");
  // The title has the name of a clip.
  expect(await strip.nth(0).innerText()).toMatch(/^lamp#1[\s\S]*title$/);
  expect(await strip.nth(0).getByRole("button").count()).toBe(0);
  expect(await strip.last().innerText()).toMatch(/^logo.png[\s\S]*file$/);
});

describe("graph", () => {
  it("links each clip to its details", async () => {
    const page = await at("#/graph");
    expect(await page.locator(".choice-node.open").getAttribute("aria-label")).toBe("Open pick: choose 1 of 2 takes");
    await page.getByRole("link", { name: "epilogue, unpicked" }).click();
    await expect.poll(() => page.locator(".details h2").innerText()).toBe("epilogue");
  });
});

it("says on a phone what needs action, and leads to it", async () => {
  const page = await at("", { viewport: { width: 390, height: 844 } });
  const shown = async () => (await page.locator(".total:visible").allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim()).filter((text) => text !== "");
  expect(await shown()).toEqual(["1 failed", "1 unpicked", "1 open pick"]);
  await page.getByRole("button", { name: "1 open pick" }).click();
  await expect.poll(() => page.locator(".card").evaluateAll((cards) => cards.map((card) => card.getAttribute("data-clip")))).toEqual(["gulls#1", "gulls#2"]);
});

it("fits a phone", async () => {
  const page = await at("", { viewport: { width: 390, height: 844 } });
  for (const view of ["wall", "grid", "compare", "story", "graph"]) {
    await page.evaluate((hash) => { location.hash = hash; }, `#/${view}?${selection("sea", "lamp#1")}`);
    await page.waitForSelector(`.view-${view}`);
    await drawn(page);
    expect([view, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([view, 390]);
  }
});
