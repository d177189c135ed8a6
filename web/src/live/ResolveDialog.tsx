/** Says what became of a submission of which nobody knows whether the service has accepted it. */
import { useState } from "preact/hooks";
import { Dialog } from "./Dialog";
import { closeDialog } from "./open-dialog";
import { PreviewPane } from "./PreviewPane";
import type { Action, Resolution } from "./protocol";
import { usePerform } from "./use-perform";
import { usePreview } from "./use-preview";

type Choice = "adopt" | "resubmit" | "abandon";

const CHOICES: Record<Choice, string> = {
  adopt: "It was accepted: the service shows it as this task",
  resubmit: "It was not accepted: submit it again, which is paid for",
  abandon: "Nobody can know: it counts as paid for, and is not submitted again",
};

interface Props {
  attempt: string;
  clip: string;
}

export function ResolveDialog({ attempt, clip }: Props) {
  const [choice, setChoice] = useState<Choice>("adopt");
  const [task, setTask] = useState("");
  const performing = usePerform();
  const resolution: Resolution | null = choice === "resubmit" ? { resubmit: true } : choice === "abandon" ? { abandon: true } : task.trim() === "" ? null : { adopt: task.trim() };
  const action: Action | null = resolution === null ? null : { action: "resolve", attempt, ...resolution };
  const preview = usePreview(action);
  return (
    <Dialog title={`Resolve ${clip}`}>
      <form class="form" onSubmit={(event) => {
        event.preventDefault();
        if (action !== null) performing.start(action, closeDialog);
      }}>
        <fieldset class="choices">
          <legend class="dim">Look at the list of tasks at the service, then say what became of the submission.</legend>
          {(Object.keys(CHOICES) as Choice[]).map((each) => (
            <label key={each} class="check-row">
              <input type="radio" name="resolution" checked={choice === each} onChange={() => setChoice(each)} /> {CHOICES[each]}
            </label>
          ))}
        </fieldset>
        {choice === "adopt" && <label class="form-block">Task <input type="text" value={task} onInput={(event) => setTask(event.currentTarget.value)} /></label>}
        <PreviewPane state={preview} />
        {performing.problem !== null && <p class="failure output" role="alert" dir="auto">{performing.problem}</p>}
        <div class="form-end">
          <button type="button" class="button" onClick={closeDialog}>Cancel</button>
          <button type="submit" class="button primary" disabled={action === null || performing.busy}>Resolve</button>
        </div>
      </form>
    </Dialog>
  );
}
