import { defineConfig } from "vitest/config";

/** Generous: no test asserts a time, and a slow machine is no defect. */
const inBrowser = {
  globalSetup: ["tests/support/browser.ts"],
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 30_000 } },
};

export default defineConfig({
  test: {
    // Files share one browser, and wait for it most of the time.
    maxWorkers: 3,
    projects: [
      { test: { name: "unit", include: ["tests/unit/*.test.ts"] } },
      // A worker keeps the modules that it has loaded: loading them takes as long as some files.
      { test: { name: "browser", include: ["tests/browser/*.test.ts"], ...inBrowser, isolate: false } },
      // Each file has servers of its own; they render, which a machine of two cores does not do twice at once.
      { test: { name: "live", include: ["tests/live/*.test.ts"], ...inBrowser, fileParallelism: false } },
      { test: { name: "shots", include: ["tests/shots/*.test.ts"], ...inBrowser, testTimeout: 300_000 } },
    ],
  },
});
