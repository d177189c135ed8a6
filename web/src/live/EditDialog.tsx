/** Changes a shot's prompt or seed in the workflow file, after it has shown the difference and what it costs. */
import { useEffect, useState } from "preact/hooks";
import { Dialog } from "./Dialog";
import { closeDialog } from "./open-dialog";
import { PreviewPane } from "./PreviewPane";
import type { Action, OwnValues } from "./protocol";
import { digest, ownValues } from "./server";
import { usePerform } from "./use-perform";
import { messageOf, usePreview } from "./use-preview";

export function EditDialog({ shot }: { shot: string }) {
  const [own, setOwn] = useState<OwnValues | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    ownValues(shot).then(
      (values) => isCurrent && setOwn(values),
      (error: unknown) => isCurrent && setProblem(messageOf(error)),
    );
    return () => {
      isCurrent = false;
    };
  }, [shot]);
  return (
    <Dialog title={`Edit ${shot}`}>
      {problem !== null && <p class="failure output" role="alert" dir="auto">{problem}</p>}
      {own !== null && <Fields own={own} />}
    </Dialog>
  );
}

function Fields({ own }: { own: OwnValues }) {
  const ownSeed = own.seed === null ? "" : String(own.seed);
  const [prompt, setPrompt] = useState(own.prompt ?? "");
  const [seed, setSeed] = useState(ownSeed);
  const performing = usePerform();
  const change = {
    ...(prompt === (own.prompt ?? "") ? {} : { prompt }),
    ...(seed.trim() === ownSeed || seed.trim() === "" ? {} : { seed: seed.trim() }),
  };
  const isChanged = Object.keys(change).length > 0;
  const action: Action | null = isChanged ? { action: "edit", shot: own.shot, digest: digest.value, ...change } : null;
  const preview = usePreview(action);
  return (
    <form class="form" onSubmit={(event) => {
      event.preventDefault();
      if (action !== null && preview.state === "ready") performing.start(action, closeDialog);
    }}>
      <label class="form-block">
        Prompt
        <textarea rows={6} dir="auto" value={prompt} onInput={(event) => setPrompt(event.currentTarget.value)} />
      </label>
      {own.prompt === null && <p class="dim">This shot has no prompt of its own in the file; what is written here becomes its own.</p>}
      <label class="form-block">
        Seed
        <input type="text" size={24} dir="auto" value={seed} placeholder="none of its own" onInput={(event) => setSeed(event.currentTarget.value)} />
      </label>
      <PreviewPane state={preview} />
      {performing.problem !== null && <p class="failure output" role="alert" dir="auto">{performing.problem}</p>}
      <div class="form-end">
        <span class="dim">Saving renders nothing: the next run does.</span>
        <span class="spacer" />
        <button type="button" class="button" onClick={closeDialog}>Cancel</button>
        <button type="submit" class="button primary" disabled={preview.state !== "ready" || performing.busy}>Save</button>
      </div>
    </form>
  );
}
