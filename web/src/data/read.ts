/** Reads the data that the runner put into the page. */
import type { ViewerData } from "./types";

export type ReadResult = { data: ViewerData } | { problem: string };

export function readData(text: string): ReadResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: "The data of this page is not valid JSON. Write the page again: runner view FILE" };
  }
  if (typeof value !== "object" || value === null) return { problem: "The data of this page is not an object." };
  if ("__VIEWER_DATA__" in value) {
    return { problem: "This page has no data yet. Write it for a workflow: runner view FILE" };
  }
  const data = value as Partial<ViewerData>;
  if (data.version !== 4) {
    return { problem: `The data of this page has version ${String(data.version)}; this page reads version 4.` };
  }
  if (!Array.isArray(data.clips) || !Array.isArray(data.shots) || !Array.isArray(data.films)) {
    return { problem: "The data of this page lacks clips, shots or films." };
  }
  return { data: data as ViewerData };
}
