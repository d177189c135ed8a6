/** Text from users and services is text, and paths stay in the folder. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { HOSTILE, hostile } from "../support/data";
import { selection, useBrowser, visit, writeSite, type Site } from "../support/site";

const held = useBrowser();
let site: Site;

beforeAll(async () => {
  site = await writeSite(hostile());
});
afterAll(() => site.remove());

it.each(["wall", "grid", "compare", "story", "graph"])("%s shows hostile text as text", async (view) => {
  const selected = selection(...hostile().clips.slice(0, 4).map((clip) => clip.id));
  const visited = await visit(held.browser, site.url);
  const { page } = visited;
  for (const clip of hostile().clips) {
    await page.evaluate((hash) => { location.hash = hash; }, `#/${view}?${selected}&shot=${encodeURIComponent(clip.shot)}&clip=${encodeURIComponent(clip.id)}`);
    await page.waitForSelector(`.view-${view}`);
    await expect.poll(() => page.locator(".details .prompt").first().evaluate((node) => node.textContent)).toBe(clip.prompt);
    expect(await page.title()).toContain(HOSTILE[0]);
    const nodes = await page.evaluate(() => ({
      scripts: document.querySelectorAll("script").length,
      strange: document.querySelectorAll("b, iframe, object, embed, form, [onerror], [onclick], img[src='x']").length,
      injected: "injected" in window,
      sources: [...document.querySelectorAll("img, video")].map((node) => node.getAttribute("src") ?? "").filter((source) => /^[a-z]+:|^\/|\.\./i.test(source)),
      links: [...document.querySelectorAll("a")].map((node) => node.getAttribute("href") ?? "").filter((href) => !href.startsWith("#")),
    }));
    expect(nodes).toEqual({ scripts: 2, strange: 0, injected: false, sources: [], links: [] });
  }
  expect([visited.dialogs, visited.requests, visited.problems]).toEqual([[], [], []]);
  await page.context().close();
});

it("refuses markup from scripts and requests to anywhere", async () => {
  let hits = 0;
  const server = createServer((_, response) => {
    hits++;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { page } = await visit(held.browser, site.url);
  const results = await page.evaluate(async (address) => {
    const attempt = async (action: () => unknown) => {
      try {
        await action();
        return "allowed";
      } catch (error) {
        return (error as Error).name;
      }
    };
    const load = (name: "img" | "video" | "iframe") => new Promise((done, fail) => {
      const node = document.createElement(name);
      node.addEventListener("load", done);
      node.addEventListener("error", () => fail(new TypeError()));
      setTimeout(() => fail(new TypeError()), 500);
      node.src = `${address}${name}`;
      document.body.append(node);
    });
    return [
      await attempt(() => { document.createElement("div").innerHTML = "<b>x</b>"; }),
      await attempt(() => { document.createElement("button").setAttribute("onclick", "window.injected = 1"); }),
      await attempt(() => fetch(address)),
      await attempt(() => load("img")),
      await attempt(() => load("video")),
    ];
  }, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(results).toEqual(Array.from(results, () => "TypeError"));
  await page.evaluate(() => {
    location.href = "javascript:void(window.injected = 1)";
  });
  await page.waitForTimeout(100);
  expect(await page.evaluate(() => "injected" in window)).toBe(false);
  expect(hits).toBe(0);
  await page.context().close();
  server.close();
});
