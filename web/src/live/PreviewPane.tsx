/** What an action would do: the difference, the cost, and the command that does the same. */
import { CopyButton } from "../components/CopyButton";
import { diffLines } from "./diff";
import type { PreviewState } from "./use-preview";

export function PreviewPane({ state }: { state: PreviewState }) {
  if (state.state === "none") return null;
  if (state.state === "failed") return <p class="failure output" role="alert" dir="auto">{state.message}</p>;
  const preview = state.state === "ready" ? state.preview : state.last;
  return (
    <div class="preview" aria-busy={state.state === "loading"}>
      {preview === null ? <p class="dim" role="status">Planning…</p> : (
        <>
          {preview.diff !== null && (
            <pre class="diff" tabIndex={0} aria-label="Difference">
              {diffLines(preview.diff).map((line, index) => <span key={index} class={`diff-${line.kind}`}>{line.text}{"\n"}</span>)}
            </pre>
          )}
          {preview.text !== null && <p class="estimate" role="status" dir="auto">{preview.text}</p>}
          <div class="command"><code dir="ltr">{preview.command}</code><CopyButton text={preview.command} label="Copy the command" /></div>
        </>
      )}
    </div>
  );
}
