import { expect, it } from "vitest";
import { runnerCommand } from "../../src/logic/command";

it("writes commands that can be pasted, or none", () => {
  const pick = (...words: string[]) => runnerCommand("'my film.yaml' -p look=a", ["pick", ...words]);
  expect(pick("lamp", "lamp@look=noir,seed=3#2")).toBe("runner pick 'my film.yaml' -p look=a lamp lamp@look=noir,seed=3#2");
  expect(pick("$(rm -rf ~)", "it's")).toBe("runner pick 'my film.yaml' -p look=a '$(rm -rf ~)' 'it'\\''s'");
  for (const hidden of ["a\nb", "a\u202eb", "a\u2028b", "\u001b[31m"]) expect(pick(hidden)).toBeNull();
  expect([runnerCommand(undefined, ["pick", "a"]), runnerCommand("", ["pick", "a"])]).toEqual([null, null]);
});
