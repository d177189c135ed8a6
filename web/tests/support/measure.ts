/** Measurements of the benchmark, and its report. */
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";

/** Adds a line to the report that `cargo xtask bench view` prints. */
export async function report(line: string): Promise<void> {
  const file = process.env["REPORT"];
  if (file === undefined) console.log(line);
  else await appendFile(file, `${line}\n`);
}

/** The value at a part of sorted samples: 0.5 is the median. */
export function at(samples: readonly number[], part: number): number {
  return samples[Math.floor((samples.length - 1) * part)] ?? NaN;
}

/** Scrolls a page from end to end in eight seconds. */
export async function scroll(page: Page): Promise<{ rate: number; p95: number }> {
  const gaps = await page.evaluate(async () => {
    const height = document.documentElement.scrollHeight - innerHeight;
    const gaps: number[] = [];
    const start = performance.now();
    let last = start;
    for (let now = start; now - start < 8_000; ) {
      now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
      gaps.push(now - last);
      last = now;
      scrollTo(0, (height * (now - start)) / 8_000);
    }
    return gaps;
  });
  gaps.sort((a, b) => a - b);
  return { rate: (1_000 * gaps.length) / gaps.reduce((sum, gap) => sum + gap, 0), p95: at(gaps, 0.95) };
}

/** Milliseconds from the navigation until the first twelve pictures are there. */
export async function firstPictures(page: Page, url: string): Promise<number> {
  await page.addInitScript(() => {
    const first = new Promise<number>((resolve) => {
      const check = () => {
        const nodes = [...document.querySelectorAll<HTMLImageElement | HTMLVideoElement>("li img, li video, .card img")].slice(0, 12);
        const there = (node: HTMLImageElement | HTMLVideoElement) => (node instanceof HTMLImageElement ? node.complete && node.naturalWidth > 0 : node.readyState >= 2);
        if (nodes.length === 12 && nodes.every(there)) resolve(performance.now());
        else requestAnimationFrame(check);
      };
      requestAnimationFrame(check);
    });
    Object.assign(window, { firstPictures: first });
  });
  await page.goto(url, { waitUntil: "commit" });
  return page.evaluate(() => (window as unknown as { firstPictures: Promise<number> }).firstPictures);
}

/** A page without a viewer, to compare with: the same number of pictures or players, and nothing else. */
export async function plainPage(folder: string, kind: "img" | "video", count: number): Promise<string> {
  const node = (index: number) => (kind === "img" ? `<img loading=lazy decoding=async src="posters/${index}.jpg">` : `<video preload=metadata muted src="clips/sea.mp4?${index}"></video>`);
  const items = Array.from({ length: count }, (_, index) => `<li>${node(index)}<br>clip ${index}</li>`).join("");
  const style = "ul{display:grid;grid-template-columns:repeat(6,1fr);gap:12px}li{list-style:none}img,video{width:100%;aspect-ratio:16/9;background:#ccc}";
  const file = join(folder, `${kind}.html`);
  await writeFile(file, `<!doctype html><style>${style}</style><ul>${items}</ul>`);
  return pathToFileURL(file).href;
}

/**
 * How far the clips are from the first one, in frames, in each frame that the page draws; sorted. The clocks are read one after the other, and go on
 * meanwhile: a reading during which another process had the processor is left out.
 */
export async function drifts(page: Page, seconds: number, frameRate: number): Promise<number[]> {
  const samples = await page.evaluate(async ({ seconds, frameRate }) => {
    const videos = [...document.querySelectorAll("video")];
    const samples: number[] = [];
    const start = performance.now();
    while (performance.now() - start < seconds * 1_000) {
      await new Promise(requestAnimationFrame);
      const [leader, ...others] = videos.map((video) => ({ time: video.currentTime, at: performance.now(), plays: !video.paused }));
      if (leader === undefined || (others[others.length - 1]?.at ?? 0) - leader.at > 5) continue;
      const length = videos[0]?.duration ?? 4;
      const gaps = others.map(({ time, at, plays }) => {
        const gap = Math.abs(time - leader.time - (plays && leader.plays ? (at - leader.at) / 1_000 : 0));
        // A clip that has begun again while another has not is as near as on a circle.
        return Math.min(gap, length - gap);
      });
      samples.push(frameRate * Math.max(...gaps));
    }
    return samples;
  }, { seconds, frameRate });
  return samples.sort((a, b) => a - b);
}

/** The share of the processors' time that the host of a virtual machine took; 0 where it is not known. */
export async function stolen(since: readonly number[]): Promise<number> {
  const now = await processorTimes();
  const spent = now.map((time, index) => time - (since[index] ?? 0));
  const all = spent.reduce((sum, time) => sum + time, 0);
  return all > 0 ? (spent[STOLEN] ?? 0) / all : 0;
}

/** Index of the time that was stolen, proc_stat(5). */
const STOLEN = 7;

/** Times of all processors in clock ticks: user, nice, system, idle, waiting, interrupts (2), stolen. */
export async function processorTimes(): Promise<number[]> {
  const text = await readFile("/proc/stat", "utf8").catch(() => "");
  return (text.split("\n")[0] ?? "").split(/\s+/).slice(1, 2 + STOLEN).map(Number);
}
