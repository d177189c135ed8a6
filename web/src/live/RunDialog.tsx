/** Starts a run, after it has shown what that costs. */
import { useState } from "preact/hooks";
import { count } from "../logic/format";
import { model } from "../state/store";
import { Dialog } from "./Dialog";
import { closeDialog } from "./open-dialog";
import { PreviewPane } from "./PreviewPane";
import type { Action } from "./protocol";
import { currentRun } from "./server";
import { usePerform } from "./use-perform";
import { usePreview } from "./use-preview";

interface Props {
  only: string[];
  rerun: string[];
}

export function RunDialog({ only, rerun }: Props) {
  const [maxCost, setMaxCost] = useState("");
  const [maxTasks, setMaxTasks] = useState("");
  const performing = usePerform();
  const tasks = maxTasks === "" ? null : Number(maxTasks);
  const isValid = tasks === null || (Number.isInteger(tasks) && tasks > 0);
  const action: Action = {
    action: "run",
    ...(only.length > 0 ? { only } : {}),
    ...(rerun.length > 0 ? { rerun } : {}),
    ...(maxCost.trim() === "" ? {} : { max_cost: maxCost.trim() }),
    ...(tasks === null ? {} : { max_tasks: tasks }),
  };
  const preview = usePreview(isValid ? action : null, performing.changes);
  const isRunning = currentRun.value !== undefined;
  return (
    <Dialog title={title(only, rerun)}>
      <form class="form" onSubmit={(event) => {
        event.preventDefault();
        if (preview.state !== "ready" || isRunning || preview.preview.previewed === null) return;
        performing.start({ ...action, previewed: preview.preview.previewed }, closeDialog);
      }}>
        <div class="form-row">
          <label class="field">Maximum cost <input type="text" inputMode="decimal" size={8} value={maxCost} placeholder="as shown" onInput={(event) => setMaxCost(event.currentTarget.value)} /> {model.value.data.currency !== null && <span class="dim">{model.value.data.currency}</span>}</label>
          <label class="field">Maximum number of tasks <input type="number" min={1} step={1} value={maxTasks} placeholder="as shown" onInput={(event) => setMaxTasks(event.currentTarget.value)} /></label>
        </div>
        {!isValid && <p class="failure">The number of tasks is a whole number from 1.</p>}
        <PreviewPane state={preview} />
        {isRunning && <p class="warn">A run is in progress. Stop it or wait until it ends.</p>}
        {performing.problem !== null && <p class="failure output" role="alert" dir="auto">{performing.problem}</p>}
        <div class="form-end">
          <button type="button" class="button" onClick={closeDialog}>Cancel</button>
          <button type="submit" class={`button${preview.state === "ready" && preview.preview.previewed?.tasks === 0 ? "" : " primary"}`} disabled={preview.state !== "ready" || performing.busy || isRunning}>Run</button>
        </div>
      </form>
    </Dialog>
  );
}

function title(only: string[], rerun: string[]): string {
  const [again] = rerun;
  if (again !== undefined) return rerun.length === 1 ? `Render ${again} again` : `Render ${count(rerun.length, "clip")} again`;
  const [one] = only;
  if (one !== undefined) return only.length === 1 ? `Render ${one}` : `Render ${count(only.length, "clip")}`;
  return "Render what is missing";
}
