/** Differences of two texts, word by word. */

export type Part = { kind: "same" | "removed" | "added"; text: string };

/** Above this many comparisons the differing middle is shown as one replacement. */
const MAX_COMPARISONS = 4_000_000;

/** Words, runs of spaces and of other characters. Emoji sequences stay whole. */
export function splitWords(text: string): string[] {
  if (typeof Intl !== "undefined" && "Segmenter" in Intl) {
    const segments = new Intl.Segmenter("en", { granularity: "word" }).segment(text);
    return Array.from(segments, (segment) => segment.segment);
  }
  return (text as string).match(/\s+|[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}]+/gu) ?? [];
}

export function wordDiff(before: string, after: string): Part[] {
  const a = splitWords(before);
  const b = splitWords(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const parts: Part[] = [];
  const push = (kind: Part["kind"], text: string) => {
    const last = parts[parts.length - 1];
    if (text === "") return;
    if (last?.kind === kind) last.text += text;
    else parts.push({ kind, text });
  };
  push("same", a.slice(0, start).join(""));
  for (const part of middle(a.slice(start, a.length - end), b.slice(start, b.length - end))) push(part.kind, part.text);
  push("same", a.slice(a.length - end).join(""));
  return parts;
}

/** By the longest common subsequence. */
function middle(a: string[], b: string[]): Part[] {
  if (a.length * b.length > MAX_COMPARISONS) {
    return [{ kind: "removed", text: a.join("") }, { kind: "added", text: b.join("") }];
  }
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = a.length - 1; row >= 0; row--) {
    for (let column = b.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        a[row] === b[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const parts: Part[] = [];
  let row = 0;
  let column = 0;
  while (row < a.length || column < b.length) {
    const left = a[row];
    const right = b[column];
    if (left !== undefined && left === right) {
      parts.push({ kind: "same", text: left });
      row++;
      column++;
    } else if (left !== undefined && (right === undefined || at(row + 1, column) >= at(row, column + 1))) {
      parts.push({ kind: "removed", text: left });
      row++;
    } else {
      parts.push({ kind: "added", text: right ?? "" });
      column++;
    }
  }
  return parts;
}

/** The side of a difference that is shown under one clip: its own words, with those that differ marked. */
export function side(parts: Part[], which: "before" | "after"): { text: string; differs: boolean }[] {
  const dropped = which === "before" ? "added" : "removed";
  return parts.filter((part) => part.kind !== dropped).map((part) => ({ text: part.text, differs: part.kind !== "same" }));
}
