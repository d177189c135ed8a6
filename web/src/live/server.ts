/** The server of `runner ui`: one stream of events, and its actions. A page from disk has no server. */
import { computed, signal } from "@preact/signals";
import { readData } from "../data/read";
import type { ViewerData } from "../data/types";
import type { Action, Job, OwnValues, Preview, ProjectEvent, UnclaimedTask } from "./protocol";

/** The browser tries again by itself while the server is away, but not after a refusal. */
const RETRY_MS = 2_000;

export type Connection = "none" | "connecting" | "open" | "disconnected" | "refused";

export const connection = signal<Connection>("none");
export const jobs = signal<Job[]>([]);
/** Why the workflow file is not valid now; the page shows what it was before. */
export const fileProblem = signal<string | null>(null);
export const digest = signal("");
export const unclaimed = signal<UnclaimedTask[]>([]);

export const isLive = computed(() => connection.value !== "none");
/** The run that goes on. */
export const currentRun = computed(() => jobs.value.find((job) => job.action === "run" && job.state !== "ended"));

export class ActionError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Whether a server has sent this page. */
export function hasServer(): boolean {
  return document.getElementById("live") !== null;
}

/** Follows the server; `onData` receives each new manifest. */
export function connect(onData: (data: ViewerData) => void): void {
  const open = () => {
    const source = new EventSource("/events");
    source.addEventListener("open", () => (connection.value = "open"));
    source.addEventListener("error", () => {
      const isRefused = source.readyState === EventSource.CLOSED;
      connection.value = isRefused ? "refused" : "disconnected";
      if (isRefused) setTimeout(open, RETRY_MS);
    });
    source.addEventListener("manifest", (event) => {
      const project = JSON.parse(event.data as string) as ProjectEvent;
      fileProblem.value = project.problem;
      digest.value = project.digest;
      unclaimed.value = project.unclaimed;
      const read = readData(JSON.stringify(project.manifest));
      if ("data" in read) onData(read.data);
      else fileProblem.value = read.problem;
    });
    source.addEventListener("jobs", (event) => (jobs.value = JSON.parse(event.data as string) as Job[]));
  };
  connection.value = "connecting";
  open();
}

async function request<T>(path: string, body?: Action): Promise<T> {
  const options = body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  let response: Response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new ActionError("unreachable", "The server cannot be reached.");
  }
  const answer = (await response.json().catch(() => null)) as ({ error?: { code: string; message: string } } & T) | null;
  if (response.ok && answer !== null) return answer;
  throw new ActionError(answer?.error?.code ?? "failed", answer?.error?.message ?? `The server answered with status ${response.status}.`);
}

/** What an action would do. */
export function preview(action: Action): Promise<Preview> {
  return request("/api/preview", action);
}

/** Starts an action; its job is in the events. */
export async function perform(action: Action): Promise<string> {
  return (await request<{ job: string }>("/api/perform", action)).job;
}

export function ownValues(shot: string): Promise<OwnValues> {
  return request(`/api/shot?id=${encodeURIComponent(shot)}`);
}
