/** The wall and the details of a clip. */
import { describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { film, sweep60 } from "../support/data";
import { useSite } from "../support/site";

const at = useSite(film());
const sweep = useSite(sweep60());
const cards = (page: Page) => page.locator(".card");

describe("wall", () => {
  it("shows a card for each clip, with its state in words", async () => {
    const page = await at("");
    await expect.poll(() => cards(page).count()).toBe(33);
    expect(await page.locator('[data-clip="lamp#3"]').innerText()).toMatch(/Failed[\s\S]*content policy[\s\S]*failed/);
    await expect.poll(() => page.evaluate(() => [...document.querySelectorAll<HTMLImageElement>(".card img")].slice(0, 6).every((image) => image.naturalWidth > 0))).toBe(true);
    expect(await page.locator("video").count()).toBe(0);
  });

  it.each([1440, 390])("names clips by what differs, and cuts none of it, at %i pixels", async (width) => {
    const page = await sweep("", { viewport: { width, height: 900 } });
    await expect.poll(() => cards(page).count()).toBe(60);
    const texts = await cards(page).allTextContents();
    expect(texts.slice(0, 3)).toEqual(["noir · crane up · a fisherman with a lantern", "noir · crane up · a fisherman with a rope", "noir · crane up · a cat"]);
    expect(new Set(texts).size).toBe(60);
    const cut = (selector: string) => page.locator(selector).evaluateAll((labels) => labels.filter((label) => label.scrollWidth > label.clientWidth || label.scrollHeight > label.clientHeight + 1).length);
    expect(await cut(".card-name")).toBe(0);
    await page.evaluate(() => { location.hash = "#/graph"; });
    const nodes = page.locator(".node");
    await expect.poll(() => nodes.count()).toBe(60);
    expect(new Set(await nodes.locator("text:not(.node-meta)").evaluateAll((lines) => lines.map((line) => line.parentElement?.textContent))).size).toBe(60);
    const widest = await nodes.evaluateAll((all) => Math.max(...all.flatMap((node) => [...node.querySelectorAll("text")].map((text) => text.getBoundingClientRect().right - (node.querySelector("rect")?.getBoundingClientRect().right ?? 0)))));
    expect(widest).toBeLessThan(0);
  });

  it.each([[2, "fisherman+orbit+look=noir"], [3, "orbit+look=noir"], [4, "orbit+cat"], [6, "look=noir&axis.move=orbit&axis.move=static"]])("%i cards fill the width and stay in sight", async (count, query) => {
    const page = await sweep(`#/wall?q=${query}`, { viewport: { width: 1440, height: 900 } });
    await expect.poll(() => cards(page).count()).toBe(count);
    const boxes = await page.locator(".thumb").evaluateAll((all) => all.map((each) => each.getBoundingClientRect()).map(({ right, bottom }) => ({ right, bottom })));
    expect([Math.max(...boxes.map(({ right }) => right)) > 1400, Math.max(...boxes.map(({ bottom }) => bottom)) < 900]).toEqual([true, true]);
  });

  it("tells the shots and takes of a storyboard by their prompts and seeds", async () => {
    const page = await at("");
    const text = async (id: string) => (await page.locator(`[data-clip="${id}"] .card-open > span:not(.thumb, .card-meta)`).allInnerTexts()).join(" | ");
    await expect.poll(() => text("sea")).toBe("sea | The storm breaks over the sea: high waves, rain, dark clouds.");
    expect([await text("gulls#1"), await text("gulls#2")]).toEqual(["gulls#1 | seed 1 | Gulls over the harbor, handheld.", "gulls#2 | seed 2 | Gulls over the harbor, handheld."]);
  });

  it("filters, searches and sorts, and puts it into the address", async () => {
    const page = await at("");
    await page.getByLabel("Search prompts, names and parameters").fill("neon reflections");
    await expect.poll(() => cards(page).count()).toBe(6);
    await page.getByRole("button", { name: "seed", exact: true }).click();
    await page.getByRole("group", { name: "seed" }).getByLabel("3").check();
    await expect.poll(() => cards(page).count()).toBe(1);
    expect(await page.evaluate(() => location.hash)).toBe("#/wall?q=neon+reflections&axis.seed=3");
    await page.reload();
    await expect.poll(() => cards(page).count()).toBe(1);
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.getByLabel("Sort").selectOption("cost");
    await page.getByRole("button", { name: "Descending" }).click();
    await expect.poll(() => cards(page).first().getAttribute("data-clip")).toBe("breakwater");
    await page.getByLabel("Sort").selectOption("state");
    await page.getByRole("button", { name: "Descending" }).click();
    await expect.poll(() => cards(page).first().getAttribute("data-clip")).toBe("lamp#3");
  });

  it("plays on hover, and frees the player", async () => {
    const page = await at("");
    await page.locator('[data-clip="sea"]').hover();
    await expect.poll(() => page.evaluate(() => document.querySelector("video")?.currentTime ?? 0)).toBeGreaterThan(0.2);
    expect(await page.locator("video").count()).toBe(1);
    await page.mouse.move(700, 60);
    await expect.poll(() => page.locator("video").count()).toBe(0);
  });

  it("plays at most nine of what is in view, and nothing when all is paused", async () => {
    const page = await at("");
    await page.keyboard.press("p");
    await expect.poll(() => page.locator("video").count()).toBe(9);
    const playing = () => page.locator(".card:has(video)").evaluateAll((cards) => cards.map((card) => card.getAttribute("data-clip")));
    const before = await playing();
    await page.mouse.wheel(0, 900);
    await expect.poll(playing).not.toEqual(before);
    expect(await page.locator("video").count()).toBeLessThanOrEqual(9);
    await page.getByRole("button", { name: "Pause everything that moves" }).click();
    await expect.poll(() => page.locator("video").count()).toBe(0);
  });

  it("starts nothing on hover where motion is to be reduced", async () => {
    const page = await at("", { reducedMotion: "reduce" });
    await page.locator('[data-clip="sea"]').hover();
    // Longer than the wall waits before it plays.
    await page.waitForTimeout(400);
    expect(await page.locator("video").count()).toBe(0);
  });
});

describe("details", () => {
  it("open from a card, follow links, and give the focus back", async () => {
    const page = await at("");
    await page.locator('[data-clip="sunrise"] .card-open').click();
    const details = page.getByRole("complementary", { name: "Details" });
    await expect.poll(() => details.locator("h2").innerText()).toBe("sunrise");
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("sunrise");
    await details.getByRole("link", { name: "lamp#1" }).click();
    await expect.poll(() => details.locator("h2").innerText()).toBe("lamp#1");
    expect(await page.evaluate(() => location.hash)).toBe("#/wall?clip=lamp%231");
    expect(await details.innerText()).toContain("task_lamp#1");
    await details.getByText("Request as sent").click();
    expect(await details.locator("pre").innerText()).toContain('"resolution": "480p"');
    await page.keyboard.press("Escape");
    await expect.poll(() => details.count()).toBe(0);
    await expect.poll(() => page.evaluate(() => document.activeElement?.closest("[data-clip]")?.getAttribute("data-clip"))).toBe("sunrise");
  });

  it("copy the command", async () => {
    const page = await at("#/wall?clip=sea");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy the command" }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe("runner run film.yaml --rerun 'sea'");
  });
});
