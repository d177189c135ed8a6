/** What clips are called beside each other: what is equal is not repeated, and what tells them apart is never cut. */
import type { Clip, Json, ViewerData } from "../data/types";
import { isText, valueKey, valueLabel } from "./values";

export interface ClipLabel {
  /** Its shot, with its take: empty where all clips are of one shot and something else tells them apart. */
  name: string;
  /** It and the other takes of its instance. */
  instance: string;
  /** Its values in the order of the axes, without those that all clips of its shot have. */
  values: string[];
  /** Where it has no values: the part of its prompt that tells it from the others. */
  prompt: string;
}

const MAX_VALUE = 40;
const MAX_PROMPT = 76;

export function labelClips(data: ViewerData): Map<string, ClipLabel> {
  const axes = valuesByAxis(data);
  const texts = new Map([...axes].map(([axis, values]) => [axis, new Set([...values.values()].map(({ label }) => label))]));
  const name = (axis: string, value: Json): string => {
    const { label, short } = axes.get(axis)?.get(valueKey(value)) ?? { label: valueLabel(value), short: valueLabel(value) };
    const isUnique = isText(value) && ![...texts].some(([other, labels]) => other !== axis && labels.has(label));
    return isUnique ? short : `${axis} ${short}`;
  };
  const shots = new Map<string, Clip[]>();
  for (const clip of data.clips) {
    const list = shots.get(clip.shot);
    if (list) list.push(clip);
    else shots.set(clip.shot, [clip]);
  }
  const prompts = distinct(data.clips.map((clip) => clip.prompt ?? ""), MAX_PROMPT);
  const labels = new Map<string, ClipLabel>();
  for (const clips of shots.values()) {
    const first = clips[0]?.cell ?? {};
    const own = (cell: Clip["cell"], axis: string) => (Object.hasOwn(cell, axis) ? valueKey(cell[axis] as Json) : null);
    const all = new Set(clips.flatMap((clip) => Object.keys(clip.cell)));
    const differing = new Set([...all].filter((axis) => clips.some((clip) => own(clip.cell, axis) !== own(first, axis))));
    for (const clip of clips) {
      const values = Object.entries(clip.cell).filter(([axis]) => differing.has(axis)).map(([axis, value]) => name(axis, value));
      const instance = [...(shots.size > 1 || values.length === 0 ? [clip.shot] : []), ...values].join(" · ");
      if (clip.take !== null && shots.size === 1) values.push(`take ${clip.take}`);
      if (clip.take !== null && clip.seed !== null && !Object.hasOwn(clip.cell, "seed")) values.push(`seed ${clip.seed}`);
      const isNamed = shots.size > 1 || values.length === 0;
      const prompt = prompts.size > 1 && Object.keys(clip.cell).length === 0 ? (prompts.get(clip.prompt ?? "") ?? "") : "";
      labels.set(clip.id, { name: isNamed ? `${clip.shot}${clip.take === null ? "" : `#${clip.take}`}` : "", instance, values, prompt });
    }
  }
  return labels;
}

/** A label on one line. */
export function labelText({ name, values }: Pick<ClipLabel, "name" | "values">): string {
  return [name, ...values].filter((part) => part !== "").join(" · ");
}

function valuesByAxis(data: ViewerData): Map<string, Map<string, { label: string; short: string }>> {
  const axes = new Map<string, Map<string, string>>();
  for (const { cell } of data.clips) {
    for (const [axis, value] of Object.entries(cell)) {
      const values = axes.get(axis) ?? new Map<string, string>();
      axes.set(axis, values.set(valueKey(value), valueLabel(value)));
    }
  }
  return new Map([...axes].map(([axis, values]) => {
    const short = distinct([...values.values()], MAX_VALUE);
    return [axis, new Map([...values].map(([key, label]) => [key, { label, short: short.get(label) ?? label }]))];
  }));
}

/** Each text in at most so many characters, among them the first one that no other text has there. */
export function distinct(texts: string[], max: number): Map<string, string> {
  const sorted = [...new Set(texts)].sort();
  return new Map(sorted.map((text, index) => {
    const letters = [...text];
    if (letters.length <= max) return [text, text];
    const shared = Math.max(...[sorted[index - 1], sorted[index + 1]].map((other) => sharedLetters(letters, [...(other ?? "")])));
    // Some of what differs is shown, from the beginning of its word.
    let start = shared < max * 0.7 ? 0 : shared;
    while (start > 0 && shared - start < 12 && letters[start - 1] !== " ") start--;
    const end = start + max - (start > 0 ? 2 : 1);
    const part = letters.slice(start, end).join("").trim();
    // Without its last word, which may be cut, if enough is left.
    const words = part.replace(/\s\S*$/u, "");
    const isEnough = end < letters.length && [...words].length > shared - start + 1;
    return [text, `${start > 0 ? "…" : ""}${isEnough ? words : part}${end < letters.length ? "…" : ""}`];
  }));
}

function sharedLetters(a: string[], b: string[]): number {
  const differs = a.findIndex((letter, index) => letter !== b[index]);
  return differs < 0 ? a.length : differs;
}

/** Lines of at most so many letters, wide ones counted twice; a longer word is broken. */
export function wrap(text: string, max: number): string[] {
  const width = (part: string) => [...part].reduce((sum, letter) => sum + ((letter.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2), 0);
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    let line = lines.at(-1);
    if (line !== undefined && width(`${line} ${word}`) <= max) {
      lines[lines.length - 1] = `${line} ${word}`;
      continue;
    }
    line = "";
    for (const letter of word) {
      if (line !== "" && width(line + letter) > max) {
        lines.push(line);
        line = "";
      }
      line += letter;
    }
    lines.push(line);
  }
  return lines;
}
