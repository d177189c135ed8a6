/** The server of `runner ui`: one stream of events, and its actions. A page from disk has no server. */
import { computed, signal } from "@preact/signals";
import { readData } from "../data/read";
import { model } from "../state/store";
import { anticipate } from "./anticipate";
import type { ViewerData } from "../data/types";
import type { Action, Job, OwnValues, Preview, ProjectEvent, UnclaimedTask } from "./protocol";

/** The browser tries again by itself while the server is away, but not after a refusal. */
const RETRY_MS = 2_000;
/** A pick takes less. */
const MAX_WAIT_MS = 5_000;

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

/** The data of the server, and the actions that it does not have yet. */
let received: ViewerData | null = null;
let pending: { action: Action; job: string | null }[] = [];
let show: (data: ViewerData) => void = () => undefined;

/** Shows what the server has, with what is on its way. */
function showAnticipated(): void {
  show(pending.reduce((data, { action }) => anticipate(data, action), received ?? model.peek().data));
}

/** Actions that have ended are in the next manifest, or have failed. */
function forgetEnded(which: (job: Job) => boolean): void {
  const ended = new Set(jobs.value.filter((job) => job.state === "ended" && which(job)).map((job) => job.job));
  pending = pending.filter(({ job }) => job === null || !ended.has(job));
}

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
  show = onData;
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
      forgetEnded(() => true);
      if ("data" in read) {
        received = read.data;
        showAnticipated();
      } else fileProblem.value = read.problem;
    });
    source.addEventListener("jobs", (event) => {
      jobs.value = JSON.parse(event.data as string) as Job[];
      const before = pending.length;
      forgetEnded((job) => job.exit !== 0);
      if (pending.length !== before) showAnticipated();
    });
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

/** Starts an action; its job is in the events. Picks and ratings are shown at once, and started one after the other: the last one counts. */
export async function perform(action: Action): Promise<string> {
  if (action.action !== "pick" && action.action !== "rate") return post(action);
  const entry: (typeof pending)[number] = { action, job: null };
  pending.push(entry);
  showAnticipated();
  const started = inOrder.then(() => post(action));
  inOrder = started.then(hasEnded, () => undefined);
  try {
    return (entry.job = await started);
  } catch (error) {
    pending = pending.filter((other) => other !== entry);
    showAnticipated();
    throw error;
  }
}

async function post(action: Action): Promise<string> {
  return (await request<{ job: string }>("/api/perform", action)).job;
}

/** Resolves when the last pick or rating has ended. */
let inOrder: Promise<void> = Promise.resolve();

function hasEnded(job: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = jobs.subscribe((list) => {
      if (list.some((each) => each.job === job && each.state === "ended")) resolve();
    });
    // The server may have gone away.
    setTimeout(() => (stop(), resolve()), MAX_WAIT_MS);
  });
}

export function ownValues(shot: string): Promise<OwnValues> {
  return request(`/api/shot?id=${encodeURIComponent(shot)}`);
}
