/** The data of the page, version 4. `docs/manifest.schema.json` is the authority. Times are milliseconds since the epoch; `null` is unknown. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** The states of a shot, in the order of docs/events.md. */
export type StatusKind =
  | "done"
  | "reused"
  | "in-flight"
  | "submitting"
  | "downloading"
  | "waiting-for-retry"
  | "waiting"
  | "pending"
  | "claimed-by-other-run"
  | "detached"
  | "at-other-service"
  | "indeterminate"
  | "missing"
  | "unrecorded"
  | "failed"
  | "blocked"
  | "unpicked"
  | "not-started"
  | "not-selected";

export type FilmState = "done" | "pending" | "unpicked" | "not-joined" | "failed";
export type ParentKind = "continues" | "reference" | "needs" | "pick";

export interface ViewerData {
  version: 4;
  generator: string;
  created_at: number;
  /** `arguments`: the file and its overrides in a command; manifests of earlier versions have none. */
  workflow: { name: string; file: string; title: string | null; arguments?: string };
  /** Costs are millionths of it. */
  currency: string | null;
  shots: Shot[];
  clips: Clip[];
  films: Film[];
}

export interface Axis {
  name: string;
  values: Json[];
}

export interface Shot {
  id: string;
  axes: Axis[];
  takes: number;
  /** The id of the picked clip. */
  pick: string | null;
  note: string | null;
}

export interface Attempt {
  attempt: string;
  /** The beginning of the key that it was for; another one than that of the clip where the request has changed since. */
  key: string | null;
  task: string | null;
  intended_at: number | null;
  result: string;
  message: string | null;
  /** Manifests of earlier versions have none. */
  cost?: number;
}

export interface Render {
  /** What `runner pick` takes. */
  number: number;
  key: string;
  file: string | null;
  /** Manifests of earlier versions have none. */
  poster?: string | null;
  bytes: number | null;
  made_at: number;
  is_asked: boolean;
  counts: boolean;
  cost?: number;
}

export interface Parent {
  clip: string;
  kind: ParentKind;
}

export interface Clip {
  id: string;
  shot: string;
  cell: Record<string, Json>;
  take: number | null;
  state: StatusKind;
  is_picked: boolean;
  /** From 1 to 5; 0 is rejected. Where there is none, it is not rated. */
  rating?: number | null;
  /** Paths relative to the page, with `/`. */
  file: string | null;
  poster: string | null;
  proxy: string | null;
  bytes: number | null;
  width: number | null;
  height: number | null;
  seconds: number | null;
  frame_rate: number | null;
  has_audio: boolean | null;
  model: string;
  family: string;
  prompt: string | null;
  seed: number | null;
  dialogue: string | null;
  request: Json;
  key: string | null;
  task: string | null;
  cost: number | null;
  elapsed_ms: number | null;
  attempts: Attempt[];
  /** Where there are several that are no takes. */
  renders?: Render[];
  failure: string | null;
  parents: Parent[];
  command: string;
}

/** A clip of the manifest, a file of one's own, or a title on black. */
export type CutKind = "shot" | "file" | "title";

export interface Cut {
  clip: string;
  kind: CutKind;
  start: number;
  seconds: number | null;
}

/** What is said in a film, in seconds on its clock. */
export interface Caption {
  start: number;
  end: number;
  speaker: string | null;
  text: string;
}

export interface Film {
  name: string;
  file: string | null;
  poster: string | null;
  seconds: number | null;
  state: FilmState;
  cuts: Cut[];
  captions: Caption[];
}
