/** Players on the wall: created for what plays, freed when it stops. */
import type { Clip } from "../data/types";
import { mediaUrl } from "../logic/media-url";
import { playFile } from "../state/video";

/** Each player costs about 20 MB, and decoders are few. */
export const MAX_PLAYING = 9;
/** Time without a change of what is in view, so that fast scrolling creates no player. */
const DEBOUNCE_MS = 150;

export type PlayMode = "off" | "hover" | "visible";

export class WallPlayer {
  #players = new Map<string, { video: HTMLVideoElement; free: () => void }>();
  #visible = new Set<HTMLElement>();
  #observed = new Set<Element>();
  #observer: IntersectionObserver;
  #mode: PlayMode = "hover";
  #timer = 0;
  #hovered: string | null = null;

  constructor(
    private readonly root: HTMLElement,
    private readonly clipOf: (id: string) => Clip | undefined,
  ) {
    this.#observer = new IntersectionObserver((entries) => this.#onIntersection(entries), { threshold: 0.6 });
    root.addEventListener("pointerover", this.#onPointer);
    root.addEventListener("pointerleave", this.#onLeave);
    root.addEventListener("focusin", this.#onPointer);
  }

  setMode(mode: PlayMode): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.refresh();
    this.#schedule();
  }

  /** Observes the cards that are there now, if they are to play when they are in view. */
  refresh(): void {
    const cards = this.#mode === "visible" ? new Set(this.root.querySelectorAll(".card")) : new Set<Element>();
    for (const card of this.#observed) {
      if (cards.has(card)) continue;
      this.#observer.unobserve(card);
      this.#visible.delete(card as HTMLElement);
    }
    for (const card of cards) if (!this.#observed.has(card)) this.#observer.observe(card);
    this.#observed = cards;
    this.#schedule();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#observer.disconnect();
    this.root.removeEventListener("pointerover", this.#onPointer);
    this.root.removeEventListener("pointerleave", this.#onLeave);
    this.root.removeEventListener("focusin", this.#onPointer);
    for (const id of [...this.#players.keys()]) this.#stop(id);
  }

  #onIntersection(entries: IntersectionObserverEntry[]): void {
    for (const entry of entries) {
      if (entry.isIntersecting) this.#visible.add(entry.target as HTMLElement);
      else this.#visible.delete(entry.target as HTMLElement);
    }
    this.#schedule();
  }

  #onPointer = (event: Event): void => {
    const card = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-clip]") : null;
    this.#hovered = card?.dataset["clip"] ?? null;
    if (this.#mode === "hover") this.#schedule();
  };

  #onLeave = (): void => {
    this.#hovered = null;
    if (this.#mode === "hover") this.#schedule();
  };

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#update(), DEBOUNCE_MS);
  }

  #update(): void {
    const wanted = this.#wanted();
    for (const [id, { video }] of [...this.#players]) if (!wanted.includes(id) || !video.isConnected) this.#stop(id);
    for (const id of wanted) if (!this.#players.has(id)) this.#start(id);
  }

  #wanted(): string[] {
    if (this.#mode === "hover") return this.#hovered === null ? [] : [this.#hovered];
    if (this.#mode === "off") return [];
    const inView = [...this.#visible].filter((card) => card.isConnected);
    inView.sort((a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
    const ids = inView.map((card) => card.dataset["clip"] ?? "");
    return ids.filter((id) => this.#source(id) !== null).slice(0, MAX_PLAYING);
  }

  #source(id: string): string | null {
    const clip = this.clipOf(id);
    return mediaUrl(clip?.proxy ?? null) ?? mediaUrl(clip?.file ?? null);
  }

  #start(id: string): void {
    const source = this.#source(id);
    const thumb = this.root.querySelector(`[data-clip="${CSS.escape(id)}"] .thumb`);
    if (source === null || thumb === null) return;
    const video = document.createElement("video");
    video.className = "fill overlay";
    video.muted = true;
    video.loop = true;
    video.playsInline = true;
    video.tabIndex = -1;
    video.setAttribute("aria-hidden", "true");
    video.addEventListener("playing", () => video.classList.add("ready"));
    video.addEventListener("error", () => this.#stop(id));
    video.autoplay = true;
    thumb.append(video);
    const free = playFile(video, source, this.clipOf(id)?.bytes ?? null);
    this.#players.set(id, { video, free });
  }

  #stop(id: string): void {
    const player = this.#players.get(id);
    if (player === undefined) return;
    this.#players.delete(id);
    player.free();
    player.video.remove();
  }
}
