/** Running, picking and editing from the page. */
import { expect, it } from "vitest";
import { violations } from "../support/axe";
import { details, run, state, useProjects } from "../support/live";

const project = useProjects();

const HARBOR = `version: 1
name: harbor
defaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }
shots:
  # the lamp in the tower
  - { id: lamp, takes: 2, prompt: the lamp turns on }
  - { id: sea, continues: lamp, prompt: the sea }
`;

it("renders, picks a take, renders what waited for it, and edits a prompt", async () => {
  const harbor = await project(HARBOR);
  const page = await harbor.open(await harbor.serve(), { bypassCSP: true, reducedMotion: "reduce" });
  await expect.poll(() => state(page, "lamp#1")).toBe("not started");
  const isPrimary = (name: string) => page.getByRole("button", { name, exact: true }).evaluate((button) => button.classList.contains("primary"));
  expect(await isPrimary("Run…")).toBe(true);
  expect(new URL(page.url()).search).toBe("");

  await page.getByRole("button", { name: "Run…" }).click();
  await page.locator(".dialog .estimate").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.locator(".dialog").waitFor({ state: "detached" });

  expect(await run(page)).toMatch(/^to submit: 2 to 3 tasks,/);
  await expect.poll(() => state(page, "lamp#2")).toBe("done");
  await expect.poll(() => state(page, "lamp#1")).toBe("done");
  await expect.poll(() => page.getByRole("status", { name: "Last action" }).innerText()).toMatch(/waits for a decision\s+Pick one of lamp/);

  await details(page, "lamp#2");
  await page.getByRole("button", { name: "Pick", exact: true }).click();
  await page.getByRole("button", { name: "Remove the pick" }).waitFor();
  expect(await run(page)).toMatch(/^to submit: 1 task,/);
  await expect.poll(() => state(page, "sea")).toBe("done");
  expect(await harbor.attempts()).toBe(3);
  // Nothing is left to submit: the button is there, and does not call.
  expect(await isPrimary("Run…")).toBe(false);
  await page.getByRole("button", { name: "Run…" }).click();
  await expect.poll(() => page.locator(".dialog .estimate").innerText()).toContain("nothing to submit");
  expect(await isPrimary("Run")).toBe(false);
  await page.keyboard.press("Escape");

  await details(page, "sea");
  await page.getByRole("button", { name: "Edit…" }).click();
  const prompt = page.getByRole("textbox", { name: "Prompt" });
  expect(await prompt.inputValue()).toBe("the sea");
  await prompt.fill("the sea, <b>calm</b> at last");
  await expect.poll(() => page.locator(".dialog .diff").innerText()).toContain("+  - { id: sea, continues: lamp, prompt: \"the sea, <b>calm</b> at last\" }");
  expect(await page.locator(".dialog .estimate").innerText()).toMatch(/^to submit: 1 task,/);
  expect(await harbor.read()).toBe(HARBOR);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => state(page, "sea")).toBe("not started");
  expect(await harbor.read()).toBe(HARBOR.replace("prompt: the sea", "prompt: \"the sea, <b>calm</b> at last\""));
  await expect.poll(() => page.locator(".details .prompt").innerText()).toBe("the sea, <b>calm</b> at last");
});

it("renders a shot again, within a cap, and goes back to the earlier render", async () => {
  const harbor = await project(HARBOR.replace("takes: 2, ", ""));
  await harbor.runner("run", "harbor.yaml");
  const page = await harbor.open(await harbor.serve());
  await details(page, "lamp");
  await page.getByRole("button", { name: "Render again…" }).click();
  await expect.poll(() => page.locator(".dialog .estimate").innerText()).toMatch(/^to submit: 1 to 2 tasks,/);
  await page.getByRole("spinbutton", { name: "Maximum number of tasks" }).fill("1");
  await expect.poll(() => page.locator(".dialog .command code").innerText()).toBe("runner run --rerun=lamp --max-tasks=1 --own-caps harbor.yaml");
  await page.locator(".dialog").getByRole("button", { name: "Run", exact: true }).click();
  await expect.poll(() => page.locator(".renders li").count()).toBe(2);
  await expect.poll(() => page.locator(".renders li").last().innerText()).toContain("used");
  await page.getByRole("button", { name: "Use this one" }).click();
  await expect.poll(() => page.locator(".renders li").first().innerText()).toContain("used");
  await expect.poll(() => state(page, "lamp")).toBe("done");
  await page.evaluate(() => { location.hash = "#/story"; });
  const renders = page.getByRole("list", { name: "Renders of lamp" }).getByRole("button");
  await expect.poll(async () => (await renders.allInnerTexts()).map((text) => text.trim())).toEqual(["1 used", "2"]);
  await expect.poll(() => renders.locator("img").evaluateAll((images) => images.filter((image) => (image as HTMLImageElement).naturalWidth > 0).length)).toBe(2);
});

it("shows a run again whose file has changed since its preview, and starts nothing else", async () => {
  const harbor = await project(HARBOR);
  const page = await harbor.open(await harbor.serve());
  const dialog = page.locator(".dialog");
  const start = dialog.getByRole("button", { name: "Run", exact: true });
  await page.getByRole("button", { name: "Run…" }).click();
  await expect.poll(() => dialog.locator(".estimate").innerText()).toMatch(/^to submit: 2 to 3 tasks,/);
  await expect.poll(() => dialog.locator(".command code").innerText()).toBe("runner run --max-tasks=3 --own-caps harbor.yaml");
  await harbor.write(`${HARBOR}  - { id: ferry, takes: 5, prompt: the last ferry }\n`);
  await start.click();
  await expect.poll(() => dialog.getByRole("alert").innerText()).toContain("was changed in the meantime; nothing was submitted");
  await expect.poll(() => dialog.locator(".estimate").innerText()).toMatch(/^to submit: 7 to 8 tasks,/);
  expect(await harbor.attempts()).toBe(0);
  await start.click();
  await dialog.waitFor({ state: "detached" });
  await expect.poll(() => state(page, "ferry#5")).toBe("done");
  expect(await harbor.attempts()).toBe(7);
});

it("picks and rates where clips are compared, and shows it at once", async () => {
  const harbor = await project(HARBOR.replace("takes: 2", "takes: 3"));
  await harbor.runner("run", "harbor.yaml");
  const page = await harbor.open(await harbor.serve(), { bypassCSP: true, reducedMotion: "reduce" });
  await page.evaluate(() => { location.hash = "#/compare"; });
  await page.getByRole("button", { name: "Takes of lamp" }).click();
  const clips = page.locator(".compare-clip");
  await expect.poll(() => clips.count()).toBe(3);
  // Before the program has even started.
  const at = await clips.nth(1).getByRole("button", { name: /^Pick/ }).evaluate((button) => {
    const began = performance.now();
    (button as HTMLElement).click();
    return new Promise<number>((resolve) => new MutationObserver((_, observer) => {
      if (document.querySelector(".compare-clip.picked") === null) return;
      observer.disconnect();
      resolve(performance.now() - began);
    }).observe(document.body, { subtree: true, attributes: true }));
  });
  expect(at).toBeLessThan(100);
  await expect.poll(async () => (await harbor.runner("pick", "harbor.yaml", "lamp")).out).toContain("lamp: picked lamp#2");
  expect(await clips.nth(1).getAttribute("class")).toContain("picked");
  await clips.nth(0).hover();
  await page.keyboard.press("4");
  await clips.nth(2).hover();
  await page.keyboard.press("x");
  await expect.poll(() => clips.locator(".stamp.left").allInnerTexts()).toEqual(["★ 4", "rejected"]);
  await clips.nth(2).hover();
  expect(await violations(page)).toEqual([]);
  const ratings = async () => {
    const { clips } = JSON.parse((await harbor.runner("report", "harbor.yaml", "--format", "json")).out) as { clips: { id: string; rating?: number }[] };
    return clips.filter((clip) => clip.rating !== undefined).map((clip) => `${clip.id} ${clip.rating}`);
  };
  await expect.poll(ratings).toEqual(["lamp#1 4", "lamp#3 0"]);
  await page.evaluate(() => { location.hash = "#/grid?shot=lamp"; });
  await page.locator('[data-clip="lamp#3"]').getByRole("button", { name: /^Pick/ }).click();
  await expect.poll(() => page.locator(".cell.picked").getAttribute("data-clip")).toBe("lamp#3");
  await page.locator('[data-clip="lamp#3"]').getByRole("button", { name: /^Unpick/ }).click();
  await expect.poll(() => page.locator(".cell.picked").count()).toBe(0);
  // By keyboard alone, and only what is shown.
  await page.evaluate(() => { location.hash = "#/wall"; });
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("5");
  await page.getByRole("button", { name: "Rating", exact: true }).click();
  await page.getByRole("group", { name: "Rating" }).getByLabel("★ 5").check();
  await expect.poll(() => page.locator(".card").evaluateAll((cards) => cards.map((card) => card.getAttribute("data-clip")))).toEqual(["lamp#2"]);
  await expect.poll(ratings).toEqual(["lamp#1 4", "lamp#2 5", "lamp#3 0"]);
});
