/** Commands for a shell, as the runner prints them. */

/** A command about a workflow: `pick` and what follows its file; null where the data does not say how the file is named, or a word cannot be quoted. */
export function runnerCommand(file: string | undefined, [name, ...words]: [string, ...string[]]): string | null {
  // What a terminal would not show, or would show as something else.
  if (file === undefined || file === "" || words.some((word) => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(word))) return null;
  return ["runner", name, file, ...words.map(quote)].join(" ");
}

function quote(word: string): string {
  return /^(?!#)[\p{L}\p{N}\-_./=@,+:%#]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
