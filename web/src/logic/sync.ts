/**
 * Plays several clips in step. One clip leads at its own pace; the others follow by small changes of their playback rate, and by a seek
 * only where they are far off. Seeking costs decoding: an absolute clock that seeks on a slow machine stops everything.
 *
 * Players that are told to play in the same moment, with their frames decoded, stay within a few hundredths of a frame. What parts them is a seek,
 * which takes each of them another time; so does their own loop, and decoding on a slow machine. After a seek, at the end of the leader, and where
 * one has nothing to show, all wait for the last one.
 */

/** What the controller needs of a `<video>`. */
export interface Player {
  currentTime: number;
  playbackRate: number;
  readonly duration: number;
  readonly paused: boolean;
  readonly seeking: boolean;
  /** The next frames are decoded, or never will be. */
  readonly ready: boolean;
  muted: boolean;
  loop: boolean;
  play(): Promise<void> | void;
  pause(): void;
  /** Seeks, and resolves when the frame is there. */
  seek(seconds: number): Promise<void>;
}

export interface Track {
  id: string;
  player: Player;
  /** Frames per second. */
  rate: number;
  /** Frames by which the clip runs ahead of the common time. */
  offset: number;
}

/** Seconds between corrections. */
export const TICK_SECONDS = 0.1;
/** A drift that is left alone, in frames: well below what can be seen, and above what reading the clocks one after the other adds. */
const IGNORED_FRAMES = 0.1;
/** Below this a follower catches up by its rate, above it seeks. */
export const MAX_NUDGED_SECONDS = 0.3;
/** Maximum change of a follower's playback rate. Followers are silent, so that nobody hears it. */
export const MAX_NUDGE = 0.25;
/** A clip that has nothing to show for this time is not waited for any longer. */
const MAX_WAIT_SECONDS = 3;
/** Where the clocks cannot be read within this time, another process had the processor: what was read says nothing. */
const MAX_READING_SECONDS = 0.02;
/** Time for a seek to take effect before another is tried. */
const SEEK_PAUSE_SECONDS = 1;

/** The playback rate of a follower that is `drift` seconds ahead; `null` where it has to seek. */
export function nudge(drift: number, frame: number, speed: number): number | null {
  if (Math.abs(drift) < frame * IGNORED_FRAMES) return speed;
  if (Math.abs(drift) >= MAX_NUDGED_SECONDS) return null;
  return speed * (1 - Math.max(-MAX_NUDGE, Math.min(MAX_NUDGE, drift / (2 * TICK_SECONDS))));
}

/** The time in the middle of a frame: seeking there presents this frame in every browser. */
export function frameTime(frame: number, rate: number): number {
  return (frame + 0.5) / rate;
}

export function frameAt(seconds: number, rate: number): number {
  return Math.floor(seconds * rate + 0.01);
}

export class SyncController {
  #tracks: Track[] = [];
  #audible: string | null = null;
  #playing = false;
  #loop = true;
  #speed = 1;
  #target: number | null = null;
  #seeking = false;
  /** Since when all wait for one. */
  #waitsSince: number | null = null;
  /** Clips that were waited for in vain. */
  #givenUp = new Set<Player>();
  #lastSeek = new Map<string, number>();
  readonly #clock: () => number;

  /** `clock` tells the time in seconds. */
  constructor(clock: () => number = () => performance.now() / 1000) {
    this.#clock = clock;
  }

  get tracks(): readonly Track[] {
    return this.#tracks;
  }

  get playing(): boolean {
    return this.#playing;
  }

  get audible(): string | null {
    return this.#audible;
  }

  /** The clip that leads: the audible one, because a change of rate can be heard; else the longest. */
  get leader(): Track | null {
    const audible = this.#tracks.find((track) => track.id === this.#audible);
    if (audible) return audible;
    let longest: Track | null = null;
    for (const track of this.#tracks) {
      if (longest === null || length(track) > length(longest) + 0.5 / track.rate) longest = track;
    }
    return longest;
  }

  /** The common time in seconds: the leader's, without its offset. */
  get time(): number {
    const leader = this.leader;
    if (leader === null) return this.#target ?? 0;
    return this.#target ?? leader.player.currentTime - leader.offset / leader.rate;
  }

  /** The common time runs from the start of the leader to its end. */
  get duration(): number {
    const leader = this.leader;
    return leader === null ? 0 : length(leader);
  }

  get rate(): number {
    return this.leader?.rate ?? 24;
  }

  get frame(): number {
    return frameAt(Math.max(0, this.time), this.rate);
  }

  /** Replaces the clips; those that stay are left alone. */
  setTracks(tracks: Track[]): void {
    for (const track of this.#tracks) {
      if (!tracks.some((other) => other.player === track.player)) track.player.pause();
    }
    this.#tracks = tracks;
    if (!tracks.some((track) => track.id === this.#audible)) this.#audible = null;
    this.#apply();
    if (this.#playing && !this.#seeking) for (const track of tracks) if (track.player.paused) start(track.player);
  }

  setLoop(loop: boolean): void {
    this.#loop = loop;
    this.#apply();
  }

  setSpeed(speed: number): void {
    this.#speed = speed;
    this.#apply();
  }

  /** Makes one clip audible and the leader; `null` mutes all. */
  setAudible(id: string | null): void {
    this.#audible = id;
    this.#apply();
  }

  async setOffset(id: string, offset: number): Promise<void> {
    const track = this.#tracks.find((each) => each.id === id);
    if (!track) return;
    const time = this.time;
    track.offset = offset;
    this.#apply();
    await this.seek(time);
  }

  async play(): Promise<void> {
    if (this.#playing || this.#tracks.length === 0) return;
    this.#playing = true;
    if (this.#hasEnded()) await this.seek(0);
    else if (!this.#seeking) this.#startAll();
  }

  pause(): void {
    this.#playing = false;
    this.#waitsSince = null;
    this.#halt();
  }

  /** Pauses and shows another frame: the same one in all clips. */
  async step(frames: number): Promise<void> {
    const frame = (this.#target === null ? this.frame : frameAt(this.#target, this.rate)) + frames;
    this.pause();
    await this.seek(frameTime(frame, this.rate));
  }

  /** Aligns all clips on the frame that the leader shows. */
  async align(): Promise<void> {
    await this.seek(frameTime(this.frame, this.rate));
  }

  /** Seeks all clips, and goes on together where they play. While a seek is under way only the newest target is remembered. */
  async seek(seconds: number): Promise<void> {
    const last = Math.max(0, this.duration - 0.5 / this.rate);
    this.#target = Math.max(0, Math.min(seconds, last));
    if (this.#seeking) return;
    this.#seeking = true;
    this.#waitsSince = null;
    this.#halt();
    try {
      for (let done: number | null = null; this.#target !== done; ) {
        const target: number = this.#target ?? 0;
        await Promise.all(this.#tracks.map((track) => track.player.seek(this.#timeIn(track, target))));
        done = target;
      }
    } finally {
      this.#target = null;
      this.#seeking = false;
      if (this.#playing) this.#startAll();
    }
  }

  /** Corrects the followers; to be called each `TICK_SECONDS`, and when a clip ends, has nothing to show or can go on. */
  tick(): void {
    const now = this.#clock();
    const leader = this.leader;
    if (!this.#playing || this.#seeking || leader === null || this.#waits(now)) return;
    if (leader.player.paused) {
      if (!leader.player.seeking && this.#hasEnded()) {
        if (this.#loop) void this.seek(0);
        else this.pause();
      }
      return;
    }
    leader.player.playbackRate = this.#speed;
    for (const [track, drift] of this.#drifts()) this.#correct(track, drift, now);
  }

  /** Whether all have to wait for a clip that has nothing to show. */
  #waits(now: number): boolean {
    for (const { player } of this.#tracks) if (player.ready) this.#givenUp.delete(player);
    const late = this.#tracks.filter((track) => !track.player.ready && !this.#givenUp.has(track.player) && !this.#isOutside(track) && !atEnd(track));
    if (this.#waitsSince === null) {
      if (late.length === 0 || this.#tracks.length === 1) return false;
      this.#waitsSince = now;
      this.#halt();
      return true;
    }
    if (late.length > 0 && now - this.#waitsSince < MAX_WAIT_SECONDS) return true;
    for (const { player } of late) this.#givenUp.add(player);
    this.#waitsSince = null;
    this.#startAll();
    return false;
  }

  /** How far the clips are from the common time, in frames, at most. */
  drift(): number {
    let most = 0;
    for (const [track, drift] of this.#drifts()) if (!this.#isOutside(track)) most = Math.max(most, Math.abs(drift) * track.rate);
    return most;
  }

  /** Seconds by which each follower is ahead of the leader. Their clocks are read one after the other, and go on meanwhile. */
  #drifts(): Map<Track, number> {
    const drifts = new Map<Track, number>();
    const leader = this.leader;
    if (leader === null) return drifts;
    const time = this.time;
    const start = this.#clock();
    for (const track of this.#tracks) {
      if (track === leader) continue;
      const ahead = track.player.currentTime - (time + track.offset / track.rate);
      const passed = this.#clock() - start;
      if (passed > MAX_READING_SECONDS) return new Map();
      const goesOn = !leader.player.paused && !track.player.paused;
      drifts.set(track, ahead - (goesOn ? passed * this.#speed : 0));
    }
    return drifts;
  }

  #correct(track: Track, drift: number, now: number): void {
    const { player } = track;
    if (player.seeking) return;
    if (this.#isOutside(track)) {
      if (!player.paused) player.pause();
      return;
    }
    const rate = nudge(drift, 1 / track.rate, this.#speed);
    if (rate !== null) {
      player.playbackRate = rate;
    } else if (now - (this.#lastSeek.get(track.id) ?? -SEEK_PAUSE_SECONDS) >= SEEK_PAUSE_SECONDS) {
      this.#lastSeek.set(track.id, now);
      player.playbackRate = this.#speed;
      void player.seek(this.#timeIn(track, this.time));
    }
    // One that has ended a little before the leader waits for it: starting it would send it back to its beginning.
    if (player.paused && !atEnd(track)) start(player);
  }

  #timeIn(track: Track, time: number): number {
    const last = Math.max(0, length(track) - 0.5 / track.rate);
    return Math.max(0, Math.min(time + track.offset / track.rate, last));
  }

  /** Before its first frame or after its last one. */
  #isOutside(track: Track): boolean {
    const time = this.time + track.offset / track.rate;
    return time < 0 || time > length(track);
  }

  /** The leader shows its last frame. */
  #hasEnded(): boolean {
    const leader = this.leader;
    return leader !== null && atEnd(leader);
  }

  #halt(): void {
    for (const { player } of this.#tracks) {
      player.pause();
      player.playbackRate = this.#speed;
    }
  }

  #startAll(): void {
    for (const track of this.#tracks) if (!this.#isOutside(track)) start(track.player);
  }

  #apply(): void {
    for (const track of this.#tracks) {
      track.player.muted = track.id !== this.#audible;
      // A clip alone begins again without the wait for others.
      track.player.loop = this.#loop && this.#tracks.length === 1;
      if (track === this.leader) track.player.playbackRate = this.#speed;
    }
  }
}

function length(track: Track): number {
  return Number.isFinite(track.player.duration) ? track.player.duration : 0;
}

/** Shows its last frame. */
function atEnd(track: Track): boolean {
  return length(track) - track.player.currentTime < 1.5 / track.rate;
}

/** Starts a player; the browser may refuse, which leaves it paused. */
function start(player: Player): void {
  Promise.resolve(player.play()).catch(() => undefined);
}
