/** Clips beside, over and against each other. */
import { describe, expect, it } from "vitest";
import { film, sweep60 } from "../support/data";
import { frames, ready, selection, useSite } from "../support/site";

const at = useSite(film());
const sweep = useSite({ ...sweep60(), clips: sweep60().clips.map((clip, index) => ({ ...clip, is_picked: index === 1, rating: [5, 4, 0][index] ?? null })) });
const cell = (who: string) => `harbor@look=noir,move=crane-up,who=${who}`;
const harbor = (look: string, seed: number) => `harbor@look=${look},seed=${seed}`;

describe("compare", () => {
  const two = selection(harbor("noir", 1), harbor("golden", 1));

  it("marks the words and parameters that differ", async () => {
    const page = await at(`#/compare?${two}`);
    await expect.poll(() => page.locator(".prompts ins").allInnerTexts()).toContain("dusk");
    expect((await page.locator(".prompts del").allInnerTexts()).join("|")).toContain("black");
    expect(await page.locator(".prompts ins").first().innerText()).not.toContain("harbor");
    expect(await page.locator(".parameters tbody th").allInnerTexts()).toEqual(["axis look"]);
    await page.getByLabel("Only differences").uncheck();
    await expect.poll(() => page.locator(".parameters tbody th").allInnerTexts()).toContain("metadata.ratio");
  });

  it("wipes between two clips", async () => {
    const page = await at(`#/compare?${two}&mode=wipe`);
    await ready(page, 2);
    const inset = () => page.evaluate(() => getComputedStyle(document.querySelector(".upper") as Element).clipPath);
    expect(await inset()).toContain("50%");
    await page.getByRole("slider", { name: "Position of the wipe" }).fill("20");
    expect(await inset()).toContain("20%");
    const box = await page.locator(".stage.wipe").boundingBox();
    if (box === null) throw new Error("no stage");
    await page.mouse.move(box.x + box.width * 0.2, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + 50);
    await page.mouse.up();
    expect(parseFloat(/([\d.]+)%/.exec(await inset())?.[1] ?? "")).toBeCloseTo(70, 0);
  });

  it("shows the difference as black where the clips are equal", async () => {
    // A small picture, because it is read several times.
    const page = await at(`#/compare?${two}&mode=difference`, { viewport: { width: 800, height: 600 } });
    await ready(page, 2);
    const brightest = async () => {
      const picture = await page.locator(".stage.difference").screenshot();
      return page.evaluate(async (bytes) => {
        const bitmap = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
        const context = canvas.getContext("2d");
        context?.drawImage(bitmap, 0, 0);
        // Without the rounded corners.
        const data = context?.getImageData(20, 20, bitmap.width - 40, bitmap.height - 40).data ?? [255];
        let most = 0;
        for (let index = 0; index < data.length; index++) if (index % 4 !== 3) most = Math.max(most, data[index] ?? 0);
        return most;
      }, [...picture]);
    };
    await page.keyboard.press(".");
    await expect.poll(() => frames(page)).toEqual([1, 1]);
    await expect.poll(brightest).toBeGreaterThan(20);
    await page.evaluate(() => {
      const [first, second] = document.querySelectorAll("video");
      for (const video of [first, second]) video?.removeAttribute("poster");
      if (first && second) second.src = first.src;
    });
    await ready(page, 2);
    await page.keyboard.press(".");
    await expect.poll(() => frames(page)).toEqual([2, 2]);
    await expect.poll(brightest).toBe(0);
  });

  it.each([[1440, 900], [900, 700], [1440, 600]])("shows three clips whole at %i by %i", async (width, height) => {
    const page = await sweep(`#/compare?${selection(cell("a-cat"), cell("a-fisherman-with-a-rope"), cell("a-fisherman-with-a-lantern"))}`, { viewport: { width, height } });
    await ready(page, 3);
    const boxes = await page.locator(".compare-clip .stage").evaluateAll((stages) => stages.map((stage) => stage.getBoundingClientRect()).map(({ left, right, bottom }) => [left, right, bottom]));
    for (const [left = -1, right = width + 1, bottom = height + 1] of boxes) expect([left >= 0, right <= width, bottom <= height]).toEqual([true, true, true]);
  });

  it("marks the picked clip and the rejected one, and copies the command that picks another", async () => {
    const page = await sweep(`#/compare?${selection(cell("a-fisherman-with-a-rope"), cell("a-cat"))}`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    expect(await page.locator(".compare-clip.picked").getAttribute("aria-label")).toBe("noir · crane up · a fisherman with a rope");
    expect(await page.locator(".compare-clip .stamp").allInnerTexts()).toEqual(["★ 4", "rejected"]);
    await page.getByRole("button", { name: "Pick, copies the command: noir · crane up · a cat" }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(`runner pick sweep.yaml harbor ${cell("a-cat")}`);
    await page.evaluate(() => { location.hash = "#/grid?across=who&down=move"; });
    await expect.poll(() => page.locator(".cell.picked").getAttribute("data-clip")).toBe(cell("a-fisherman-with-a-rope"));
    await page.locator(".cell.picked").getByRole("button", { name: "Unpick, copies the command" }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe("runner pick sweep.yaml harbor --clear");
    // Without a server nothing is rated, and the page does not say that it could be.
    expect(await page.locator(".rating").count()).toBe(0);
    await page.evaluate(() => { location.hash = "#/wall?rating=5&rating=rejected&sort=rating"; });
    await expect.poll(() => page.locator(".card .stamp.left").allInnerTexts()).toEqual(["★ 5", "rejected"]);
  });

  it("offers takes and rows while nothing is selected", async () => {
    const page = await at("#/compare");
    await page.getByRole("button", { name: "Takes of gulls" }).click();
    await expect.poll(() => page.evaluate(() => location.hash)).toBe(`#/compare?${selection("gulls#1", "gulls#2")}`);
    await page.evaluate(() => { location.hash = "#/compare"; });
    await page.getByRole("button", { name: /harbor · pastel/ }).click();
    await expect.poll(() => page.locator(".compare-clip").count()).toBe(4);
  });

  it("swaps A and B, and explains itself when nothing is selected", async () => {
    const page = await at(`#/compare?${two}`);
    await page.keyboard.press("s");
    await expect.poll(() => page.locator(".compare-head .link").allInnerTexts()).toEqual(["harbor · golden · seed 1", "harbor · noir · seed 1"]);
    await page.getByRole("button", { name: `Remove ${harbor("noir", 1)}` }).click();
    await page.getByRole("button", { name: `Remove ${harbor("golden", 1)}` }).click();
    expect(await page.locator("main").innerText()).toContain("Select two to four clips");
    await page.getByLabel("Add").fill("sea");
    await page.getByLabel("Add").press("Enter");
    await expect.poll(() => page.locator(".compare-clip").count()).toBe(1);
  });
});
