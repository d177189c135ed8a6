/** One Chromium for all files of a run. */
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the browser listens. */
    browser: string;
  }
}

const BROWSERS = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const executablePath = BROWSERS.find((path) => path !== undefined && existsSync(path));
  if (executablePath === undefined) throw new Error("no Chromium: install it or name it in CHROMIUM");
  const server = await chromium.launchServer({ executablePath, args: ["--no-sandbox", "--autoplay-policy=no-user-gesture-required"] });
  project.provide("browser", server.wsEndpoint());
  return () => server.close();
}
