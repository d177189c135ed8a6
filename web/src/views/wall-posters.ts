/**
 * Shows the posters of the wall as they come near, as fast as the page stays smooth. Loading and decoding one costs several milliseconds of
 * processor time, and a fast scroll passes a hundred of them per second: while frames are late, few are begun, and those that have been passed
 * by are left out. Until then an image is `hidden`, so that the browser does not load it either, except for print.
 */

/** The part of the window's height by which posters are loaded ahead. */
const AHEAD = "60%";
/** A longer gap between two frames is late: 40 frames per second. */
const LATE_MS = 25;
/** Time after the last scroll from which on nothing is held back. */
const STILL_MS = 120;
/** Posters that are begun in a frame: in a late one, in one that is on time, and while nothing moves. */
const MAX_BEGUN = { late: 1, onTime: 4, still: 24 };

const WAITING = "img[hidden]";

export class WallPosters {
  #near = new Set<Element>();
  #observed = new Set<Element>();
  #observer = new IntersectionObserver((entries) => this.#onIntersection(entries), { rootMargin: `${AHEAD} 0px` });
  #frame = 0;
  #lastFrame = 0;
  #lastScroll = -STILL_MS;

  constructor(private readonly root: HTMLElement) {
    addEventListener("scroll", this.#onScroll, { passive: true });
  }

  /** Looks at the blocks that are there now. */
  refresh(): void {
    const blocks = new Set<Element>(this.root.children);
    for (const block of this.#observed) {
      if (blocks.has(block)) continue;
      this.#observer.unobserve(block);
      this.#near.delete(block);
    }
    for (const block of blocks) if (!this.#observed.has(block)) this.#observer.observe(block);
    this.#observed = blocks;
    this.#wake();
  }

  dispose(): void {
    removeEventListener("scroll", this.#onScroll);
    cancelAnimationFrame(this.#frame);
    this.#observer.disconnect();
  }

  #onScroll = (): void => {
    this.#lastScroll = performance.now();
  };

  #onIntersection(entries: IntersectionObserverEntry[]): void {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting) this.#near.add(target);
      else this.#near.delete(target);
    }
    this.#wake();
  }

  #wake(): void {
    if (this.#frame !== 0) return;
    this.#lastFrame = performance.now();
    this.#frame = requestAnimationFrame(this.#show);
  }

  #show = (): void => {
    const now = performance.now();
    const gap = now - this.#lastFrame;
    this.#lastFrame = now;
    const isStill = now - this.#lastScroll > STILL_MS;
    let left = isStill ? MAX_BEGUN.still : gap > LATE_MS ? MAX_BEGUN.late : MAX_BEGUN.onTime;
    let waits = false;
    for (const image of this.#waiting()) {
      if (left-- === 0) {
        waits = true;
        break;
      }
      image.hidden = false;
    }
    this.#frame = waits ? requestAnimationFrame(this.#show) : 0;
  };

  /** What is hidden in the blocks that are near, in view first. */
  *#waiting(): Generator<HTMLElement> {
    const middle = innerHeight / 2;
    const distance = (block: Element) => {
      const { top, bottom } = block.getBoundingClientRect();
      return Math.max(top - middle, middle - bottom, 0);
    };
    const near = [...this.#near].map((block) => ({ block, far: distance(block) })).sort((a, b) => a.far - b.far);
    for (const { block } of near) yield* block.querySelectorAll<HTMLElement>(WAITING);
  }
}
