/** Lines of a unified difference. */
export interface DiffLine {
  kind: "add" | "remove" | "place" | "same";
  text: string;
}

export function diffLines(diff: string): DiffLine[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  // The first two lines name the files.
  const start = lines[0]?.startsWith("--- ") && lines[1]?.startsWith("+++ ") ? 2 : 0;
  return lines.slice(start).map((text) => ({ kind: kindOf(text), text }));
}

function kindOf(line: string): DiffLine["kind"] {
  if (line.startsWith("+")) return "add";
  if (line.startsWith("-")) return "remove";
  return line.startsWith("@@") ? "place" : "same";
}
