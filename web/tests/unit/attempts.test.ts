import { describe, expect, it } from "vitest";
import { isOfOtherRequest, latestAttempt } from "../../src/logic/attempts";
import { clip } from "../support/data";

describe("attempts", () => {
  const attempt = (name: string, key: string | null) => ({ attempt: name, key, task: null, intended_at: null, result: "failed", message: null });

  it("takes the latest one of the present request, not of an earlier text", () => {
    const edited = clip("dune", { key: "b", attempts: [attempt("1", "a"), attempt("2", "b"), attempt("3", "a")] });
    expect(latestAttempt(edited)?.attempt).toBe("2");
    expect(edited.attempts.map((each) => isOfOtherRequest(edited, each))).toEqual([true, false, true]);
    expect(latestAttempt({ ...edited, key: "c" })).toBeUndefined();
    expect(latestAttempt({ ...edited, key: null })).toBeUndefined();
  });

  it("does not take attempts whose key is unknown for those of another request", () => {
    expect(isOfOtherRequest({ key: "a" }, attempt("1", null))).toBe(false);
  });
});
