/** Ratings of clips: from 1 to 5, or rejected. */
import type { Clip } from "../data/types";

export const REJECTED = 0;
export const RATINGS = [1, 2, 3, 4, 5] as const;

/** What a filter calls a clip's rating, in the order of its options. */
export const RATING_LABELS: Record<string, string> = { 5: "★ 5", 4: "★ 4", 3: "★ 3", 2: "★ 2", 1: "★ 1", none: "not rated", rejected: "rejected" };
export const RATING_ORDER = ["5", "4", "3", "2", "1", "none", "rejected"];

export function ratingKey({ rating }: Pick<Clip, "rating">): string {
  return rating === undefined || rating === null ? "none" : rating === REJECTED ? "rejected" : String(rating);
}
