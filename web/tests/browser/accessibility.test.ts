/** What assistive technology is told, and contrast. */
import { expect, it } from "vitest";
import { violations } from "../support/axe";
import { film, sweep60 } from "../support/data";
import { drawn, selection, useSite } from "../support/site";

const at = useSite(film());
const sweep = useSite({ ...sweep60(), clips: sweep60().clips.map((clip, index) => ({ ...clip, is_picked: index === 1, rating: [5, 0, 3][index] ?? null })) });
const two = selection("sea", "breakwater");

it.each([
  ["wall", `#/wall?${two}`],
  ["grid", "#/grid?shot=harbor"],
  ["grid of one shot", "#/grid?shot=sea"],
  ["compare while nothing is selected", "#/compare"],
  ["compare", `#/compare?${two}`],
  ["wipe", `#/compare?${two}&mode=wipe`],
  ["story", "#/story"],
  ["graph", "#/graph"],
  ["details", "#/wall?clip=lamp%233"],
  ["details of a clip that waits for a pick", "#/wall?clip=epilogue"],
  ["compared clips without a file", `#/compare?${selection("epilogue", "lamp#3")}`],
])("axe-core finds nothing serious in %s, light and dark", async (_, hash) => {
  const page = await at(hash, { bypassCSP: true });
  await page.waitForSelector("main h2, main li, main table, main svg");
  for (const colorScheme of ["light", "dark"] as const) {
    // Colors are measured as they are, not on the way there.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await drawn(page);
    const violated = await violations(page);
    expect([colorScheme, violated]).toEqual([colorScheme, []]);
  }
});

it.each([1440, 390])("axe-core finds nothing serious in a rated sweep at %i pixels", async (width) => {
  const page = await sweep("#/wall", { bypassCSP: true, reducedMotion: "reduce", viewport: { width, height: 900 } });
  const compared = selection(...sweep60().clips.slice(0, 3).map((clip) => clip.id));
  for (const hash of ["#/wall?sort=rating", "#/grid?across=who", `#/compare?${compared}`, "#/story", "#/graph"]) {
    await page.evaluate((next) => { location.hash = next; }, hash);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await drawn(page);
      expect([hash, colorScheme, await violations(page)]).toEqual([hash, colorScheme, []]);
    }
  }
});

it("axe-core finds nothing serious in what opens, and names controls as they are labelled", async () => {
  const page = await at(`#/wall?state=done&shots=lamp&${two}`, { bypassCSP: true, reducedMotion: "reduce" });
  const check = async (what: string) => {
    await drawn(page);
    expect([what, await violations(page)]).toEqual([what, []]);
  };
  for (const menu of ["Shot lamp", "State done"]) {
    await page.getByRole("button", { name: menu }).click();
    await check(menu);
    await page.keyboard.press("Escape");
  }
  await page.getByRole("button", { name: "Keys" }).click();
  await check("keys");
  await page.keyboard.press("Escape");
  await page.evaluate(() => {
    Object.defineProperty(navigator, "clipboard", { value: { writeText: () => Promise.resolve() } });
    location.hash = "#/wall?clip=lamp%231";
  });
  await page.getByRole("button", { name: "Copy the command" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  await check("copied");
  await page.evaluate(() => { location.hash = "#/grid?shot=harbor"; });
  await page.getByRole("button", { name: "Offsets" }).click();
  await check("offsets");
});

it("has the colors of the chosen theme, whatever the system prefers", async () => {
  const page = await at("#/story");
  const colors = (colorScheme: "light" | "dark") => page.emulateMedia({ colorScheme }).then(() => page.evaluate(() => {
    const { color, backgroundColor } = getComputedStyle(document.body);
    return [color, backgroundColor];
  }));
  const [light, dark] = [await colors("light"), await colors("dark")];
  expect(light).not.toEqual(dark);
  await page.getByRole("button", { name: "Colors: system" }).click();
  await page.getByRole("button", { name: "Colors: light" }).waitFor();
  expect([await colors("light"), await colors("dark")]).toEqual([light, light]);
  await page.getByRole("button", { name: "Colors: light" }).click();
  await page.getByRole("button", { name: "Colors: dark" }).waitFor();
  expect([await colors("light"), await colors("dark")]).toEqual([dark, dark]);
});
