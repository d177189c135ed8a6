/** Projects that `runner ui` serves: the program as it is built, its embedded service, and pages that show it. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterEach, expect } from "vitest";
import type { ViewerData } from "../../src/data/types";
import { useBrowser } from "./site";

const RUNNER = process.env["RUNNER"] ?? fileURLToPath(new URL("../../../target/debug/runner", import.meta.url));
const FILE = "harbor.yaml";

/** The environment without settings of the person who runs the tests. */
const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("RUNNER")));

export interface Server {
  url: string;
  port: string;
  /** As the system does: SIGKILL. */
  kill: () => Promise<void>;
}

export interface Project {
  read: () => Promise<string>;
  write: (text: string) => Promise<void>;
  /** The number of attempts in the ledger: what was paid for. */
  attempts: () => Promise<number>;
  /** Runs a command of the program and returns its exit code and standard output. */
  runner: (...args: string[]) => Promise<{ code: number; out: string }>;
  serve: (port?: string) => Promise<Server>;
  /** A page of a browser of its own, whose errors are failures. */
  open: (server: Server, options?: BrowserContextOptions) => Promise<Page>;
}

/** A new project for each test; what it has started ends with it. */
export function useProjects(): (workflow: string) => Promise<Project> {
  if (!existsSync(RUNNER)) throw new Error(`${RUNNER} does not exist: cargo xtask web --test builds it, or name it in RUNNER`);
  const held = useBrowser();
  const started: { folders: string[]; children: ChildProcess[]; contexts: BrowserContext[]; problems: string[] } = { folders: [], children: [], contexts: [], problems: [] };
  afterEach(async () => {
    for (const context of started.contexts.splice(0)) await context.close();
    // Not killed: it stops the runs that it has started, and waits for them.
    for (const child of started.children.splice(0)) await end(child, "SIGTERM");
    for (const folder of started.folders.splice(0)) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    expect(started.problems.splice(0)).toEqual([]);
  });
  return async (workflow) => {
    const folder = await mkdtemp(join(tmpdir(), "live-"));
    started.folders.push(folder);
    const file = join(folder, FILE);
    await writeFile(file, workflow);
    const runner: Project["runner"] = async (...args) => {
      try {
        const { stdout } = await promisify(execFile)(RUNNER, args, { cwd: folder, env: ENVIRONMENT });
        return { code: 0, out: stdout };
      } catch (error) {
        const { code, stdout } = error as { code: number; stdout: string };
        return { code, out: stdout };
      }
    };
    return {
      runner,
      read: () => readFile(file, "utf8"),
      write: (text) => writeFile(file, text),
      attempts: async () => {
        await runner("view", "--no-open", FILE);
        const manifest = JSON.parse(await readFile(join(folder, "out", "harbor", "manifest.json"), "utf8")) as ViewerData;
        return manifest.clips.reduce((sum, clip) => sum + clip.attempts.length, 0);
      },
      serve: async (port) => {
        const args = ["ui", "--no-open", ...(port === undefined ? [] : ["--listen", `127.0.0.1:${port}`]), FILE];
        const child = spawn(RUNNER, args, { cwd: folder, env: ENVIRONMENT, stdio: ["ignore", "pipe", "ignore"] });
        started.children.push(child);
        const url = await firstLine(child);
        return { url, port: new URL(url).port, kill: () => end(child, "SIGKILL") };
      },
      open: async (server, options = {}) => {
        const context = await held.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
        started.contexts.push(context);
        const page = await context.newPage();
        page.setDefaultTimeout(60_000);
        page.on("pageerror", (error) => started.problems.push(error.message));
        page.on("console", (message) => {
          // The browser reports requests to a server that is not there by itself.
          if (message.type() === "error" && !/Failed to load resource|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET/.test(message.text())) started.problems.push(message.text());
        });
        await page.goto(server.url);
        return page;
      },
    };
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("no pipe");
  for await (const line of createInterface(child.stdout)) return line;
  throw new Error("the server has printed no address");
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await ended;
}

/** The state of a clip on the wall. */
export function state(page: Page, clip: string): Promise<string> {
  return page.locator(`[data-clip="${clip}"][data-state]`).evaluate((card) => (card.getAttribute("data-state") ?? "").replaceAll("-", " "));
}

/** Opens the details of a clip. */
export async function details(page: Page, clip: string): Promise<void> {
  await page.evaluate((id) => { location.hash = `#/wall?clip=${encodeURIComponent(id)}`; }, clip);
  await page.waitForFunction((id) => document.querySelector(".details h2")?.textContent === id, clip);
}

/** Opens the dialog of a run, reads what it would do, and starts it. */
export async function run(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Run…" }).click();
  const estimate = await page.locator(".dialog .estimate").innerText();
  await page.locator(".dialog").getByRole("button", { name: "Run", exact: true }).click();
  await page.locator(".dialog").waitFor({ state: "detached" });
  return estimate;
}
