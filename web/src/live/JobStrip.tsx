/** The connection, the state of the file, and what the page has started. */
import { useState } from "preact/hooks";
import { isOpenChoice } from "../data/model";
import type { StatusKind, ViewerData } from "../data/types";
import { NO_FILTER } from "../logic/filter";
import { Icon } from "../components/Icon";
import { go, model } from "../state/store";
import { openDialog } from "./open-dialog";
import type { Job } from "./protocol";
import { connection, currentRun, fileProblem, isLive, jobs, unclaimed } from "./server";
import { usePerform } from "./use-perform";

const CONNECTION_TEXT = {
  disconnected: "The server is not there. This page is as it was when it went away, and follows it when it is back.",
  refused: "The server does not know this page: it was started again. Open the address that it has printed.",
} as const;

export function JobStrip() {
  const [dismissed, setDismissed] = useState<string | null>(null);
  if (!isLive.value) return null;
  const state = connection.value;
  const run = currentRun.value;
  const last = jobs.value[jobs.value.length - 1];
  const failed = run === undefined && last !== undefined && last.state === "ended" && last.exit !== 0 && last.job !== dismissed ? last : undefined;
  return (
    <div class="live-strip">
      {(state === "disconnected" || state === "refused") && <p class="notice problem-notice" role="alert">{CONNECTION_TEXT[state]}</p>}
      {fileProblem.value !== null && (
        <div class="notice problem-notice" role="alert">
          <p>The workflow file is not valid. The page shows what it was before.</p>
          <pre class="output" dir="ltr" tabIndex={0}>{fileProblem.value}</pre>
        </div>
      )}
      {run !== undefined && <Running job={run} />}
      {failed !== undefined && <Ended job={failed} dismiss={() => setDismissed(failed.job)} />}
      {run === undefined && <Unclaimed />}
    </div>
  );
}

function Running({ job }: { job: Job }) {
  const performing = usePerform();
  const { done, failed, unfinished, left } = job.counts;
  const ended = done + failed + unfinished;
  const all = ended + left;
  const inFlight = Object.entries(job.progress);
  const rendered = ended + inFlight.reduce((sum, [, percent]) => sum + percent / 100, 0);
  return (
    <section class="notice" aria-label="Run">
      <div class="row">
        <span class="strong">{job.state === "stopping" ? "Stopping" : "Rendering"}</span>
        <progress max={Math.max(all, 1)} value={rendered} aria-label="Progress of the run" />
        <span class="num" role="status">{done} of {all} done{failed > 0 && `, ${failed} failed`}{unfinished > 0 && `, ${unfinished} unfinished`}</span>
        <span class="spacer" />
        <button type="button" class="button" disabled={job.state === "stopping" || performing.busy} onClick={() => performing.start({ action: "stop", job: job.job })}><Icon name="stop" /> Stop</button>
      </div>
      {inFlight.length > 0 && (
        <ul class="in-flight">
          {inFlight.slice(0, 12).map(([clip, percent]) => (
            <li key={clip}><button type="button" class="link" dir="auto" onClick={() => go({ clip })}>{clip}</button> <span class="dim num">{percent} %</span></li>
          ))}
          {inFlight.length > 12 && <li class="dim">{inFlight.length - 12} more</li>}
        </ul>
      )}
      {performing.problem !== null && <p class="failure" role="alert">{performing.problem}</p>}
    </section>
  );
}

/** Exit code 3 of a run: somebody has to decide something, which is no failure. */
const ACTION_NEEDED = 3;

function Ended({ job, dismiss }: { job: Job; dismiss: () => void }) {
  const isDecision = job.exit === ACTION_NEEDED && job.action === "run";
  const heading = isDecision ? "The run waits for a decision" : `${job.command} ended with ${job.exit === null ? "a signal" : `exit code ${job.exit}`}`;
  return (
    <section class={`notice${isDecision ? "" : " problem-notice"}`} aria-label="Last action" role="status">
      <div class="row">
        <span class="strong" dir="auto">{heading}</span>
        <span class="spacer" />
        <button type="button" class="button icon-only" aria-label="Dismiss" onClick={dismiss}><Icon name="close" /></button>
      </div>
      {isDecision ? <Decisions /> : job.output !== "" && <pre class="output" dir="ltr" tabIndex={0}>{job.output}</pre>}
    </section>
  );
}

/** What has to be decided: open picks, and submissions and tasks of which nobody knows what became of them. */
function Decisions() {
  const { data, clipsOfShot } = model.value;
  const picks = data.clips.filter((clip) => clip.state === "unpicked").flatMap((clip) => clip.parents.filter((parent) => parent.kind === "pick").map((parent) => model.value.clip.get(parent.clip)?.shot));
  const open = new Set([...data.shots.filter(isOpenChoice).map((shot) => shot.id), ...picks]);
  const unknown = data.clips.filter((clip) => clip.state === "indeterminate" || clip.state === "missing");
  return (
    <ul class="in-flight">
      {[...open].map((shot) => {
        const first = shot === undefined ? undefined : clipsOfShot.get(shot)?.[0];
        return first !== undefined && <li key={shot}>Pick one of <button type="button" class="link underlined" dir="auto" onClick={() => go({ view: "wall", clip: first.id, filter: { ...NO_FILTER, shots: [first.shot] } })}>{shot}</button></li>;
      })}
      {unknown.map((clip) => <li key={clip.id}>Resolve <button type="button" class="link underlined" dir="auto" onClick={() => go({ clip: clip.id })}>{clip.id}</button></li>)}
    </ul>
  );
}

function Unclaimed() {
  const performing = usePerform();
  const tasks = unclaimed.value;
  if (tasks.length === 0) return null;
  return (
    <details class="notice">
      <summary>{tasks.length === 1 ? "One task" : `${tasks.length} tasks`} that no shot of the file asks for</summary>
      <ul class="in-flight">
        {tasks.map((task) => (
          <li key={task.task}><code dir="ltr">{task.task}</code> <span class="dim" dir="auto">was submitted for {task.clip}</span> <button type="button" class="button small-text" disabled={performing.busy} onClick={() => performing.start({ action: "fetch", task: task.task })}>Fetch</button></li>
        ))}
      </ul>
      {performing.problem !== null && <p class="failure" role="alert">{performing.problem}</p>}
    </details>
  );
}

/** Whether a run would submit, fetch or join something, as far as the page knows. */
function hasWork({ clips, films }: ViewerData): boolean {
  return clips.some((clip) => !AT_REST.has(clip.state)) || films.some((film) => film.state === "not-joined" || film.state === "failed");
}

/** States that a run leaves as they are. */
const AT_REST: ReadonlySet<StatusKind> = new Set(["done", "reused", "not-selected", "unpicked", "indeterminate", "missing", "unrecorded", "at-other-service"]);

/** Opens the dialog that starts a run. */
export function RunButton() {
  if (!isLive.value) return null;
  const isRunning = currentRun.value !== undefined;
  return (
    <button type="button" class={`button${hasWork(model.value.data) ? " primary" : ""}`} disabled={isRunning} onClick={() => openDialog({ kind: "run" })} title="Render what is missing  r">
      <Icon name="play" /> {isRunning ? "Running" : "Run…"}
    </button>
  );
}
