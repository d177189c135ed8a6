/** Players on a simulated clock. */
import type { Player } from "../../src/logic/sync";

/** How a player differs from a perfect one; times in seconds. */
export interface Flaws {
  /** Time from `play` to the first frame. */
  start: () => number;
  /** Time that a seek takes. */
  seek: () => number;
  /** Time for which it has nothing to show, asked once a second of its own time: decoding was late. */
  stall: () => number;
  /** Its speed relative to the clock of the others. */
  pace: number;
}

const NONE: Flaws = { start: () => 0, seek: () => 0, stall: () => 0, pace: 1 };

export class FakePlayer implements Player {
  currentTime = 0;
  playbackRate = 1;
  paused = true;
  muted = false;
  loop = false;
  seeks: number[] = [];
  /** Seeks that wait for their frame, where `slow`. */
  finish: (() => void)[] = [];
  slow = false;
  readonly #flaws: Flaws;
  #delay = 0;
  #stalled = 0;
  #seekLeft = 0;
  #arrive: (() => void) | null = null;

  constructor(readonly duration: number, flaws: Partial<Flaws> = {}) {
    this.#flaws = { ...NONE, ...flaws };
  }

  get seeking() {
    return this.#arrive !== null;
  }
  get ready() {
    return this.#stalled <= 0 && !this.seeking;
  }
  play() {
    if (this.paused) this.#delay = this.#flaws.start();
    this.paused = false;
    if (this.currentTime >= this.duration) this.currentTime = 0;
  }
  pause() {
    this.paused = true;
  }
  async seek(seconds: number) {
    this.seeks.push(seconds);
    if (this.slow) await new Promise<void>((resolve) => this.finish.push(resolve));
    this.currentTime = seconds;
    this.#seekLeft = this.#flaws.seek();
    if (this.#seekLeft > 0) await new Promise<void>((resolve) => (this.#arrive = resolve));
  }
  /** Lets time pass. */
  advance(seconds: number) {
    this.#stalled -= seconds;
    if (this.seeking) {
      this.#seekLeft -= seconds;
      if (this.#seekLeft > 0) return;
      this.#arrive?.();
      this.#arrive = null;
      return;
    }
    if (this.paused || this.#stalled > 0) return;
    const waited = Math.min(this.#delay, seconds);
    this.#delay -= waited;
    const before = this.currentTime;
    this.currentTime += (seconds - waited) * this.playbackRate * this.#flaws.pace;
    if (this.currentTime >= this.duration) {
      if (this.loop) {
        this.currentTime -= this.duration;
      } else {
        this.currentTime = this.duration;
        this.paused = true;
      }
    } else if (Math.floor(this.currentTime) !== Math.floor(before)) this.#stalled = this.#flaws.stall();
  }
}

/** Numbers from 0 to 1, the same ones for the same seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
