/** Folders with a page and what lies beside it, and pages of a browser to open them in. */
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject } from "vitest";
import type { ViewerData } from "../../src/data/types";

const PAGE = process.env["PAGE"] ?? fileURLToPath(new URL("../../../crates/viewer/assets/viewer.html", import.meta.url));
const CLIPS = process.env["CLIPS"] ?? fileURLToPath(new URL("../../../target/web/clips", import.meta.url));

export interface Site {
  url: string;
  folder: string;
  remove: () => Promise<void>;
}

/** The page with data, as the runner writes it; `posters` is how many files there are in the folder of that name. */
export async function writeSite(data: ViewerData, posters = 0): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), "viewer-"));
  const html = await readFile(PAGE, "utf8");
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  await writeFile(join(folder, "index.html"), html.replace('{"__VIEWER_DATA__":0}', () => json));
  if (existsSync(CLIPS)) await symlink(resolve(CLIPS), join(folder, "clips"));
  await mkdir(join(folder, "posters"));
  if (posters > 0) {
    const drawn = (await readdir(CLIPS)).filter((name) => name.endsWith(".jpg")).sort();
    for (let index = 0; index < posters; index++) await copyFile(join(CLIPS, drawn[index % drawn.length] ?? ""), join(folder, "posters", `${index}.jpg`));
  }
  return { url: pathToFileURL(join(folder, "index.html")).href, folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

export interface Visit {
  page: Page;
  /** Errors of scripts and of the content security policy. */
  problems: string[];
  /** Requests to anything but files. */
  requests: string[];
  dialogs: string[];
}

/** What a page is opened with. */
export interface VisitOptions extends BrowserContextOptions {
  /** Runs in the page before its own scripts. */
  script?: (argument: string) => void;
  argument?: string;
}

export async function visit(browser: Browser, url: string, { script, argument = "", ...options }: VisitOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 850 }, ...options });
  const page = await context.newPage();
  if (script !== undefined) await page.addInitScript(script, argument);
  page.setDefaultTimeout(60_000);
  const visited: Visit = { page, problems: [], requests: [], dialogs: [] };
  page.on("pageerror", (error) => visited.problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource|ERR_FILE_NOT_FOUND/.test(message.text())) visited.problems.push(message.text());
  });
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) visited.requests.push(request.url());
  });
  page.on("dialog", (dialog) => {
    visited.dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(url);
  return visited;
}

/** The browser of the run, for the tests of a file. */
export function useBrowser(): { readonly browser: Browser } {
  const held: { browser: Browser | null } = { browser: null };
  beforeAll(async () => {
    held.browser = await chromium.connect(inject("browser"));
  });
  afterAll(() => held.browser?.close());
  return {
    get browser() {
      if (held.browser === null) throw new Error("the browser is not there before the tests begin");
      return held.browser;
    },
  };
}

/** Opens pages of one site. After each test it has no errors, no requests and no dialogs to show. */
export function useSite(data: ViewerData, posters = 0): (hash: string, options?: VisitOptions) => Promise<Page> {
  const held = useBrowser();
  let site: Site | null = null;
  let open: Visit[] = [];
  beforeAll(async () => {
    site = await writeSite(data, posters);
  });
  afterAll(() => site?.remove());
  afterEach(async () => {
    const visits = open;
    open = [];
    for (const visited of visits) {
      await visited.page.context().close();
      expect([visited.problems, visited.requests, visited.dialogs]).toEqual([[], [], []]);
    }
  });
  return async (hash, options) => {
    const visited = await visit(held.browser, (site?.url ?? "") + hash, options);
    open.push(visited);
    return visited.page;
  };
}

/** The part of an address that selects clips. */
export const selection = (...ids: string[]): string => ids.map((id) => `sel=${encodeURIComponent(id)}`).join("&");

/** Waits until that many clips can be played. */
export async function ready(page: Page, count: number): Promise<void> {
  await page.waitForFunction((wanted) => [...document.querySelectorAll("video")].filter((video) => video.readyState >= 2).length >= wanted, count);
}

/** The frames that the clips are at; -1 while a clip seeks. */
export function frames(page: Page): Promise<number[]> {
  return page.evaluate(() => [...document.querySelectorAll("video")].map((video) => (video.seeking ? -1 : Math.floor(video.currentTime * 24 + 0.01))));
}

/** Resolves when what the last event changed has been drawn. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  });
}
