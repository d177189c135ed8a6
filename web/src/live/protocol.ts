/** What the page and the server of `runner ui` exchange. The server's modules `server`, `action`, `preview` and `started_commands` are the authority. */
import type { ViewerData } from "../data/types";

/** An action is a command of the runner. */
export type Action =
  | { action: "run"; only?: string[]; rerun?: string[]; max_cost?: string; max_tasks?: number; previewed?: PreviewedRun }
  | { action: "stop"; job: string }
  | { action: "pick"; shot: string; choice: string | null }
  | { action: "rate"; clip: string; rating: number | null }
  | { action: "edit"; shot: string; prompt?: string; seed?: string; digest: string }
  | ({ action: "resolve"; attempt: string } & Resolution)
  | { action: "fetch"; task?: string };

export type Resolution = { adopt: string } | { resubmit: true } | { abandon: true };

/** What binds a run to its preview. The server knows what is in it. */
export type PreviewedRun = { digest: string; tasks: number };

/** What an action would do. */
export interface Preview {
  /** A run's with the caps of this preview. */
  command: string;
  /** Of an edit: the difference in the file. */
  diff: string | null;
  /** What would be submitted, and what it costs. */
  text: string | null;
  /** Of a run: it is performed with this. */
  previewed: PreviewedRun | null;
}

export interface Job {
  job: string;
  action: Action["action"];
  command: string;
  state: "running" | "stopping" | "ended";
  exit: number | null;
  /** The end of its standard error. */
  output: string;
  /** Percent by clip, of those in flight. */
  progress: Record<string, number>;
  /** Of the clips that it may render. `unfinished`: it is through with them, and they wait for a later run or a person. */
  counts: { done: number; failed: number; unfinished: number; left: number };
}

/** A task that no shot of the file asks for. */
export interface UnclaimedTask {
  task: string;
  /** The clip that it was submitted for. */
  clip: string;
}

/** The event `manifest`. */
export interface ProjectEvent {
  manifest: ViewerData;
  /** SHA-256 of the workflow file, hex. */
  digest: string;
  /** Why the file is not valid now. */
  problem: string | null;
  unclaimed: UnclaimedTask[];
}

/** A shot's own values in the file; `null` where it has none. */
export interface OwnValues {
  shot: string;
  prompt: string | null;
  seed: string | number | null;
}
