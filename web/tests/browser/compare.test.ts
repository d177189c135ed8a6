/** Clips beside, over and against each other. */
import { describe, expect, it } from "vitest";
import { film } from "../support/data";
import { frames, ready, selection, useSite } from "../support/site";

const at = useSite(film());
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
