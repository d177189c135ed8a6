/** Attempts at a clip: those of its present request, and those of earlier ones of its name. */
import type { Attempt, Clip } from "../data/types";

/** The latest attempt at what the present text asks for. */
export function latestAttempt(clip: Pick<Clip, "key" | "attempts">): Attempt | undefined {
  if (clip.key === null) return undefined;
  return clip.attempts.filter((attempt) => attempt.key === clip.key).at(-1);
}

/** Whether an attempt was for another request, as far as that is known: the prompt, say, was edited since. */
export function isOfOtherRequest(clip: Pick<Clip, "key">, attempt: Pick<Attempt, "key">): boolean {
  return clip.key !== null && attempt.key !== null && requestOf(attempt.key) !== requestOf(clip.key);
}

/** A key without the number of the render: `844cd0621884` of `844cd0621884-3`. */
export function requestOf(key: string): string {
  return key.split("-", 1)[0] ?? key;
}
