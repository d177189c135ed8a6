/** `<video>` elements: freeing them, and seeking them with an end in sight. */
import type { Player } from "../logic/sync";

const SEEK_TIMEOUT_MS = 3_000;

/** Ends the player behind the element; browsers allow a limited number of them. */
export function freeVideo(video: HTMLVideoElement): void {
  video.pause();
  video.removeAttribute("src");
  video.load();
}

/** Resolves with the event, or when a broken clip or a slow machine would keep the others waiting. */
function once(video: HTMLVideoElement, name: "seeked" | "loadedmetadata"): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      video.removeEventListener(name, end);
      video.removeEventListener("error", end);
      resolve();
    };
    const timer = setTimeout(end, SEEK_TIMEOUT_MS);
    video.addEventListener(name, end);
    video.addEventListener("error", end);
  });
}

export async function seekVideo(video: HTMLVideoElement, seconds: number): Promise<void> {
  if (video.error !== null) return;
  if (video.readyState < HTMLMediaElement.HAVE_METADATA) await once(video, "loadedmetadata");
  if (video.error !== null) return;
  const seeked = once(video, "seeked");
  video.currentTime = seconds;
  await seeked;
}

/** The element as the controller sees it. */
export function playerOf(video: HTMLVideoElement): Player {
  return {
    get currentTime() {
      return video.currentTime;
    },
    set currentTime(seconds) {
      video.currentTime = seconds;
    },
    get playbackRate() {
      return video.playbackRate;
    },
    set playbackRate(rate) {
      if (video.playbackRate !== rate) video.playbackRate = rate;
    },
    get duration() {
      return video.duration;
    },
    get paused() {
      return video.paused;
    },
    get seeking() {
      return video.seeking;
    },
    get ready() {
      return video.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA || video.error !== null;
    },
    get muted() {
      return video.muted;
    },
    set muted(muted) {
      video.muted = muted;
    },
    get loop() {
      return video.loop;
    },
    set loop(loop) {
      video.loop = loop;
    },
    play: () => video.play(),
    pause: () => video.pause(),
    seek: (seconds) => seekVideo(video, seconds),
  };
}
