/** What differs between the compared clips: prompts word by word, parameters by name. */
import { useMemo, useState } from "preact/hooks";
import { totalCost } from "../data/model";
import type { Clip, Json } from "../data/types";
import { formatCost, formatDuration, formatSeconds } from "../logic/format";
import { flatten, valueLabel } from "../logic/values";
import { side, wordDiff } from "../logic/word-diff";
import { LETTERS } from "../components/ClipHead";

export function Differences({ clips, currency }: { clips: Clip[]; currency: string | null }) {
  const [onlyDifferent, setOnlyDifferent] = useState(true);
  const rows = useMemo(() => parameterRows(clips, currency), [clips, currency]);
  const differing = rows.filter((row) => row.differs).length;
  const shown = onlyDifferent ? rows.filter((row) => row.differs) : rows;
  return (
    <div class="differences">
      <h2>Prompts</h2>
      <Prompts clips={clips} />
      <div class="panel-head">
        <h2>Parameters</h2>
        <span class="dim">{differing === 0 ? "none differ" : `${differing} of ${rows.length} differ`}</span>
        <label class="check-row end"><input type="checkbox" checked={onlyDifferent} onChange={(event) => setOnlyDifferent(event.currentTarget.checked)} /> Only differences</label>
      </div>
      {shown.length > 0 && (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Parameters">
          <table class="parameters">
            <thead><tr><th scope="col">Parameter</th>{clips.map((clip, index) => <th key={clip.id} scope="col"><span class="letter">{LETTERS[index]}</span></th>)}</tr></thead>
            <tbody>
              {shown.map((row) => (
                <tr key={row.name} class={row.differs ? "differs" : ""}>
                  <th scope="row">{row.name}</th>
                  {row.values.map((value, index) => <td key={index} dir="auto">{row.differs && value !== row.values[0] ? <mark>{value}</mark> : value}</td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function Prompts({ clips }: { clips: Clip[] }) {
  const first = clips[0]?.prompt ?? "";
  const parts = useMemo(() => clips.map((clip, index) => {
    if (index === 0) {
      // A shows what B has otherwise; with more clips it is the text that the others are compared with.
      return side(wordDiff(first, clips[1]?.prompt ?? ""), "before");
    }
    return side(wordDiff(first, clip.prompt ?? ""), "after");
  }), [clips]);
  return (
    <div class="prompts">
      {clips.map((clip, index) => (
        <div key={clip.id} class="prompt-row">
          <span class="letter">{LETTERS[index]}</span>
          <p class="prompt" dir="auto">
            {clip.prompt === null && <span class="dim">no prompt</span>}
            {parts[index]?.map((part, at) => part.differs ? (index === 0 ? <del key={at}>{part.text}</del> : <ins key={at}>{part.text}</ins>) : part.text)}
          </p>
        </div>
      ))}
    </div>
  );
}

interface Row {
  name: string;
  values: string[];
  differs: boolean;
}

/** The request's leaves besides the prompt, the cell, and what came of it. */
function parameterRows(clips: Clip[], currency: string | null): Row[] {
  const columns = clips.map((clip) => {
    const values = new Map<string, string>();
    for (const [name, value] of Object.entries(clip.cell)) values.set(`axis ${name}`, valueLabel(value));
    if (clip.take !== null) values.set("take", String(clip.take));
    for (const [path, value] of flatten(clip.request)) if (path !== "" && path !== "prompt") values.set(path, text(value));
    if (!values.has("model")) values.set("model", clip.model);
    if (clip.seed !== null) values.set("seed", String(clip.seed));
    if (clip.dialogue !== null) values.set("dialogue", clip.dialogue);
    values.set("state", clip.state);
    values.set("length", formatSeconds(clip.seconds));
    values.set("size", clip.width === null ? "–" : `${clip.width}×${clip.height ?? "–"}`);
    values.set("cost", formatCost(totalCost(clip), currency));
    values.set("time to render", formatDuration(clip.elapsed_ms));
    return values;
  });
  const names = [...new Set(columns.flatMap((column) => [...column.keys()]))];
  return names.map((name) => {
    const values = columns.map((column) => column.get(name) ?? "–");
    return { name, values, differs: new Set(values).size > 1 };
  });
}

function text(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
