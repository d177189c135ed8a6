/** Ratings: how a clip is rated, and the keys and buttons that rate it. */
import { useEffect } from "preact/hooks";
import type { Clip } from "../data/types";
import { Icon } from "../components/Icon";
import { RATINGS, RATING_LABELS, REJECTED, ratingKey } from "../logic/rating";
import { useKeys, type KeyBinding } from "../state/keys";
import { announce, model, nameOf, route } from "../state/store";
import { isLive, perform } from "./server";
import { messageOf } from "./use-preview";

/** On a frame: nothing where the clip is not rated. */
export function RatingStamp({ clip }: { clip: Clip }) {
  const key = ratingKey(clip);
  return key === "none" ? null : <span class={`stamp left${key === "rejected" ? " rejected" : ""}`}>{RATING_LABELS[key]}</span>;
}

export function RatingButtons({ clip }: { clip: Clip }) {
  if (!isLive.value || clip.file === null) return null;
  const rating = clip.rating ?? null;
  return (
    <span class="rating" role="group" aria-label={`Rating of ${nameOf(clip)}`}>
      {RATINGS.map((value) => (
        <button key={value} type="button" aria-pressed={rating === value} class={rating !== null && value <= rating ? "lit" : ""} aria-label={`${value} of 5`} title={`${value} of 5  ${value}`} onClick={() => rate(clip, rating === value ? null : value)}>★</button>
      ))}
      <button type="button" aria-pressed={rating === REJECTED} aria-label="Reject" title="Reject  x" onClick={() => rate(clip, rating === REJECTED ? null : REJECTED)}><Icon name="reject" /></button>
    </span>
  );
}

function rate(clip: Clip, rating: number | null): void {
  announce(`${nameOf(clip)}: ${RATING_LABELS[ratingKey({ rating })]}`);
  perform({ action: "rate", clip: clip.id, rating }).catch((error: unknown) => announce(messageOf(error)));
}

/** The clip at which a mouse was moved last; none after a key that moves. */
let pointed: string | null = null;

const clipAt = (element: Element | null) => element?.closest<HTMLElement>("[data-clip]")?.dataset["clip"] ?? null;

/** Binds the keys that rate the clip under the pointer, the one that has the focus, or the one whose details are open. */
export function useRatingKeys(): void {
  useEffect(() => {
    const move = (event: PointerEvent) => {
      if (event.pointerType === "mouse") pointed = event.target instanceof Element ? clipAt(event.target) : null;
    };
    const key = ({ key: pressed }: KeyboardEvent) => {
      if (!/^[0-5x]$/.test(pressed)) pointed = null;
    };
    addEventListener("pointermove", move);
    addEventListener("keydown", key);
    return () => {
      removeEventListener("pointermove", move);
      removeEventListener("keydown", key);
    };
  }, []);
  const binding = (keys: string[], label: string, rating: (pressed: string, clip: Clip) => number | null): KeyBinding => ({
    keys,
    label,
    run: (event) => {
      const clip = model.peek().clip.get(pointed ?? clipAt(document.activeElement) ?? route.peek().clip ?? "");
      if (clip === undefined || clip.file === null) announce("Point at a clip with a video, or open its details, to rate it");
      else rate(clip, rating(event.key, clip));
    },
  });
  useKeys("Rating", !isLive.value ? [] : [
    binding(RATINGS.map(String), "Rate the clip", (pressed) => Number(pressed)),
    binding(["x"], "Reject the clip, or not", (_, clip) => (clip.rating === REJECTED ? null : REJECTED)),
    binding(["0"], "Remove the rating", () => null),
  ]);
}
