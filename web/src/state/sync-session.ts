/** A controller with the clips of a view, and its state as signals for the transport bar. */
import { effect, signal } from "@preact/signals";
import type { Clip } from "../data/types";
import { SyncController, TICK_SECONDS, frameTime, type Track } from "../logic/sync";
import { allPaused } from "./store";
import { playerOf } from "./video";

const DEFAULT_RATE = 24;

/** Events after which the clips are looked at without waiting for the next tick. */
const TICK_EVENTS = ["ended", "waiting", "canplay"] as const;

export class SyncSession {
  readonly controller = new SyncController();
  readonly playing = signal(false);
  readonly time = signal(0);
  readonly duration = signal(0);
  readonly rate = signal(DEFAULT_RATE);
  readonly loop = signal(true);
  readonly speed = signal(1);
  readonly audible = signal<string | null>(null);
  readonly offsets = signal<ReadonlyMap<string, number>>(new Map());
  readonly clips = signal<readonly Clip[]>([]);

  #tracks = new Map<string, { clip: Clip; track: Track }>();
  #timer = setInterval(() => this.#tick(), TICK_SECONDS * 1000);
  #frame = 0;
  #disposeEffect = effect(() => {
    if (allPaused.value) this.pause();
  });

  attach(clip: Clip, video: HTMLVideoElement): () => void {
    const track: Track = {
      id: clip.id,
      player: playerOf(video),
      rate: clip.frame_rate ?? DEFAULT_RATE,
      offset: this.offsets.peek().get(clip.id) ?? 0,
    };
    this.#tracks.set(clip.id, { clip, track });
    const ready = () => {
      this.#update();
      const time = this.time.peek();
      if (time > 0 && !this.playing.peek()) void this.controller.seek(time);
    };
    const tick = () => this.#tick();
    video.addEventListener("loadedmetadata", ready);
    for (const name of TICK_EVENTS) video.addEventListener(name, tick);
    this.#update();
    return () => {
      video.removeEventListener("loadedmetadata", ready);
      for (const name of TICK_EVENTS) video.removeEventListener(name, tick);
      if (this.#tracks.get(clip.id)?.track === track) this.#tracks.delete(clip.id);
      this.#update();
    };
  }

  /** The order of the clips on the page; the first of the longest leads. */
  order(ids: string[]): void {
    const sorted = [...this.#tracks].sort(([a], [b]) => ids.indexOf(a) - ids.indexOf(b));
    this.#tracks = new Map(sorted);
    this.#update();
  }

  async play(): Promise<void> {
    allPaused.value = false;
    await this.controller.play();
    this.playing.value = this.controller.playing;
    cancelAnimationFrame(this.#frame);
    this.#follow();
  }

  pause(): void {
    const wasPlaying = this.controller.playing;
    this.controller.pause();
    this.playing.value = false;
    // The clips stop within a frame of each other: show the same one in all.
    if (wasPlaying) void this.controller.align().then(() => this.#readTime());
  }

  toggle(): void {
    if (this.controller.playing) this.pause();
    else void this.play();
  }

  async seek(seconds: number): Promise<void> {
    this.time.value = Math.max(0, Math.min(seconds, this.duration.peek()));
    await this.controller.seek(seconds);
  }

  /** Seeks to the middle of the frame at a time. */
  async seekFrame(frame: number): Promise<void> {
    await this.seek(frameTime(frame, this.controller.rate));
  }

  async step(frames: number): Promise<void> {
    this.playing.value = false;
    await this.controller.step(frames);
    this.#readTime();
  }

  setLoop(loop: boolean): void {
    this.loop.value = loop;
    this.controller.setLoop(loop);
  }

  setSpeed(speed: number): void {
    this.speed.value = speed;
    this.controller.setSpeed(speed);
  }

  setAudible(id: string | null): void {
    this.audible.value = id;
    this.controller.setAudible(id);
    this.#update();
  }

  /** Next clip with sound; after the last one, none. */
  nextAudible(): void {
    const ids = this.clips.peek().filter((clip) => clip.has_audio !== false).map((clip) => clip.id);
    const index = this.audible.peek() === null ? -1 : ids.indexOf(this.audible.peek() ?? "");
    this.setAudible(ids[index + 1] ?? null);
  }

  async setOffset(id: string, offset: number): Promise<void> {
    this.offsets.value = new Map(this.offsets.peek()).set(id, offset);
    await this.controller.setOffset(id, offset);
  }

  dispose(): void {
    clearInterval(this.#timer);
    cancelAnimationFrame(this.#frame);
    this.#disposeEffect();
    this.controller.setTracks([]);
  }

  #update(): void {
    const entries = [...this.#tracks.values()];
    this.controller.setTracks(entries.map((entry) => entry.track));
    this.clips.value = entries.map((entry) => entry.clip);
    this.audible.value = this.controller.audible;
    this.duration.value = this.controller.duration;
    this.rate.value = this.controller.rate;
  }

  #tick(): void {
    this.controller.tick();
    if (this.playing.peek() !== this.controller.playing) this.playing.value = this.controller.playing;
  }

  #readTime(): void {
    this.time.value = this.controller.time;
  }

  #follow(): void {
    this.#readTime();
    if (this.controller.playing) this.#frame = requestAnimationFrame(() => this.#follow());
  }
}
