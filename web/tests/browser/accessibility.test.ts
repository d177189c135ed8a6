/** What assistive technology is told, and contrast. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { film } from "../support/data";
import { drawn, selection, useSite } from "../support/site";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const at = useSite(film());
const two = selection("sea", "breakwater");

interface Axe {
  run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[] }>;
}

it.each([
  ["wall", `#/wall?${two}`],
  ["grid", "#/grid?shot=harbor"],
  ["compare", `#/compare?${two}`],
  ["wipe", `#/compare?${two}&mode=wipe`],
  ["story", "#/story"],
  ["graph", "#/graph"],
  ["details", "#/wall?clip=lamp%233"],
])("axe-core finds nothing serious in %s, light and dark", async (_, hash) => {
  // The policy of the page refuses the script of the tool; what it checks does not depend on it.
  const page = await at(hash, { bypassCSP: true });
  await page.waitForSelector("main h2, main li, main table, main svg");
  await page.evaluate(axe);
  for (const colorScheme of ["light", "dark"] as const) {
    // Colors are measured as they are, not on the way there.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await drawn(page);
    const found = await page.evaluate(async () => {
      const { violations } = await (window as unknown as { axe: Axe }).axe.run();
      return violations.map((each) => `${each.impact} ${each.id}: ${each.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 120)} ${node.failureSummary}`).join(" | ")}`);
    });
    expect([colorScheme, found]).toEqual([colorScheme, []]);
  }
});
