/** Everything by keyboard. */
import { describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { film } from "../support/data";
import { drawn, ready, useSite } from "../support/site";

const at = useSite(film());

const focused = (page: Page) => page.evaluate(() => document.activeElement?.closest("[data-clip]")?.getAttribute("data-clip") ?? document.activeElement?.id);

describe("keyboard", () => {
  it.each([
    ["#/compare?sel=sea&sel=breakwater", "s", "#/compare?sel=breakwater&sel=sea"],
    ["#/wall", "S", "#/story"],
    ["#/wall?clip=sea", "Escape", "#/wall"],
  ])("%s takes the key %s as soon as it is in the document", async (hash, key, after) => {
    const page = await at(hash, {
      // Before the first frame is drawn.
      script: (pressed: string) => addEventListener("DOMContentLoaded", () => dispatchEvent(new KeyboardEvent("keydown", { key: pressed, bubbles: true }))),
      argument: key,
    });
    await expect.poll(() => page.evaluate(() => location.hash)).toBe(after);
  });

  it("goes through the wall with one tab stop and arrow keys", async () => {
    const page = await at("");
    await page.keyboard.press("ArrowRight");
    expect(await focused(page)).toBe("breakwater");
    await page.keyboard.press("ArrowRight");
    expect(await focused(page)).toBe("sea");
    await page.keyboard.press("ArrowDown");
    const columns = await page.evaluate(() => getComputedStyle(document.querySelector(".wall-block") as Element).gridTemplateColumns.split(" ").length);
    const order = await page.evaluate(() => [...document.querySelectorAll("[data-clip]")].map((card) => card.getAttribute("data-clip")));
    expect(await focused(page)).toBe(order[1 + columns]);
    await page.keyboard.press("End");
    expect(await focused(page)).toBe("harbor@look=neon,seed=6");
    await page.keyboard.press("Home");
    await page.keyboard.press("s");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("s");
    expect(await page.evaluate(() => location.hash)).toBe("#/wall?sel=breakwater&sel=sea");
    expect(await page.locator(".card button[tabindex='0']").count()).toBe(1);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator(".details h2").innerText()).toBe("sea");
    await page.keyboard.press("Escape");
    // It returns after the page was drawn.
    await expect.poll(() => focused(page)).toBe("sea");
    await page.keyboard.press("c");
    await expect.poll(() => page.locator(".compare-clip").count()).toBe(2);
    await page.keyboard.press("w");
    await expect.poll(() => page.locator(".stage.wipe").count()).toBe(1);
    await page.keyboard.press("S");
    await expect.poll(() => page.locator(".story").count()).toBe(1);
  });

  it("searches with / and types letters into the field", async () => {
    const page = await at("");
    await page.keyboard.press("/");
    await page.keyboard.type("x p 1");
    expect(await page.locator("#search").inputValue()).toBe("x p 1");
  });

  it("lists the keys, and switches single letters off", async () => {
    const page = await at("");
    await page.keyboard.press("?");
    expect(await page.getByRole("dialog").innerText()).toContain("Play what is in view");
    await page.getByRole("dialog").getByRole("checkbox").uncheck();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    await page.keyboard.press("S");
    await page.keyboard.press("?");
    await drawn(page);
    expect(await page.locator(".wall").count()).toBe(1);
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.reload();
    await page.keyboard.press("S");
    expect(await page.locator(".wall").count()).toBe(1);
  });

  it("plays with Space, and pauses", async () => {
    const page = await at("#/compare?sel=sea&sel=breakwater");
    await ready(page, 2);
    await page.keyboard.press(" ");
    await expect.poll(() => page.evaluate(() => [...document.querySelectorAll("video")].every((video) => !video.paused && video.currentTime > 0.1))).toBe(true);
    expect(await page.evaluate(() => [...document.querySelectorAll("video")].every((video) => video.muted))).toBe(true);
    await page.keyboard.press("m");
    expect(await page.evaluate(() => [...document.querySelectorAll("video")].filter((video) => !video.muted).length)).toBe(1);
    await page.keyboard.press(" ");
    await expect.poll(() => page.evaluate(() => [...document.querySelectorAll("video")].every((video) => video.paused))).toBe(true);
  });
});
