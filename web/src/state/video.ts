/** `<video>` elements: freeing them, and seeking them with an end in sight. */
import { isLive } from "../live/server";
import type { Player } from "../logic/sync";

const SEEK_TIMEOUT_MS = 3_000;

/** Larger files are streamed. */
const MAX_LOADED_BYTES = 128 << 20;
/** Of the six connections that a browser has to a server, one is for events, one for actions and two for players that stream. */
const MAX_LOADING = 2;

let loading = 0;
const waiting: (() => void)[] = [];

/**
 * Gives the element its file; the returned function frees it. A player that streams keeps a connection for as long as it exists, so that from a
 * server files are loaded as a whole where many play at once.
 */
export function playFile(video: HTMLVideoElement, url: string, bytes: number | null): () => void {
  if (!isLive.peek() || bytes === null || bytes > MAX_LOADED_BYTES) {
    video.src = url;
    return () => freeVideo(video);
  }
  const aborted = new AbortController();
  let object: string | null = null;
  load(url, aborted.signal).then(
    (blob) => {
      if (aborted.signal.aborted) return;
      object = URL.createObjectURL(blob);
      video.src = object;
    },
    // The element reports what is wrong with the file.
    () => aborted.signal.aborted || (video.src = url),
  );
  return () => {
    aborted.abort();
    freeVideo(video);
    if (object !== null) URL.revokeObjectURL(object);
  };
}

async function load(url: string, signal: AbortSignal): Promise<Blob> {
  if (loading >= MAX_LOADING) await new Promise<void>((resolve) => waiting.push(resolve));
  loading++;
  try {
    signal.throwIfAborted();
    const response = await fetch(url, { signal });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return await response.blob();
  } finally {
    loading--;
    waiting.shift()?.();
  }
}

/** Ends the player of the element; browsers allow a limited number of them. */
export function freeVideo(video: HTMLVideoElement): void {
  video.pause();
  video.removeAttribute("src");
  video.load();
}

/**
 * Shows the frame that each player has sought, in all of the page. Chromium drops a frame while the one before is not on the screen yet, as with two
 * seeks in a row on a busy machine, and a paused player stays on the older one. Where a script asks for a frame, it submits what it dropped, at once
 * and a second later; two frames of the page pass first, so that the screen has caught up.
 */
export function repaintAfterSeeks(): void {
  document.addEventListener("seeked", ({ target }) => {
    // Firefox before 132 has no such requests.
    const request = () => target instanceof HTMLVideoElement && target.requestVideoFrameCallback?.(() => undefined);
    requestAnimationFrame(() => requestAnimationFrame(request));
    // Events of players do not bubble.
  }, { capture: true });
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
