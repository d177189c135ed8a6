import { beforeEach, describe, expect, it } from "vitest";
import { MAX_NUDGE, SyncController, TICK_SECONDS, frameAt, frameTime, nudge, type Player, type Track } from "../../src/logic/sync";
import { FakePlayer, random } from "../support/players";

/** Late once, and then on time. */
function first(delay: number): () => number {
  let left = delay;
  return () => {
    const now = left;
    left = 0;
    return now;
  };
}

const track = (id: string, player: Player, offset = 0): Track => ({ id, player, rate: 24, offset });

/** Seconds of a step of the simulated clock. */
const STEP = 0.01;

let clock = 0;

/** Lets time pass; returns the largest drift in frames from `settled` seconds on. `late` is how much later than it should a correction comes. */
async function run(controller: SyncController, players: FakePlayer[], seconds: number, { settled = 1, late = () => 0 }: { settled?: number; late?: () => number } = {}): Promise<number> {
  let worst = 0;
  const start = clock;
  let next = clock + TICK_SECONDS;
  for (; clock < start + seconds; clock += STEP) {
    const before = players.map(state);
    for (const player of players) player.advance(STEP);
    await arrived();
    // The browser tells when a clip ends, has nothing to show or can go on.
    const hasChanged = players.some((player, index) => state(player) !== before[index]);
    if (hasChanged || clock >= next) controller.tick();
    if (clock >= next) next += TICK_SECONDS + late();
    if (clock - start > settled && controller.playing) worst = Math.max(worst, controller.drift());
  }
  return worst;
}

const state = (player: FakePlayer): string => `${player.ready} ${player.currentTime >= player.duration}`;

/** Lets what waits for a seek go on. */
async function arrived(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await null;
}

describe("nudge", () => {
  it("leaves a tenth of a frame alone, catches up by rate, and seeks where it is far off", () => {
    expect(nudge(0.004, 1 / 24, 1)).toBe(1);
    expect(nudge(0.1, 1 / 24, 1)).toBeCloseTo(1 - MAX_NUDGE);
    expect(nudge(-0.1, 1 / 24, 2)).toBeCloseTo(2 * (1 + MAX_NUDGE));
    expect(nudge(0.31, 1 / 24, 1)).toBeNull();
  });
});

describe("frames", () => {
  it("are exact at common rates", () => {
    for (const rate of [23.976, 24, 25, 29.97, 30, 60]) {
      const frames = Array.from({ length: 2_000 }, (_, frame) => frame);
      expect(frames.filter((frame) => frameAt(frameTime(frame, rate), rate) !== frame)).toEqual([]);
    }
  });
});

describe("SyncController", () => {
  let players: FakePlayer[];
  let controller: SyncController;
  beforeEach(() => {
    players = [
      new FakePlayer(10),
      new FakePlayer(10, { start: first(0.09), pace: 1.002 }),
      new FakePlayer(10, { start: first(0.14), pace: 0.998 }),
      new FakePlayer(10, { start: first(0.05) }),
    ];
    clock = 0;
    controller = new SyncController(() => clock);
    controller.setTracks(players.map((player, index) => track(String(index), player)));
  });

  it("brings late starters within half a frame and keeps them there over loops", async () => {
    await controller.play();
    expect(await run(controller, players, 30)).toBeLessThanOrEqual(0.5);
    // Back to the beginning, together.
    expect(players.map((player) => player.seeks)).toEqual([[0, 0], [0, 0], [0, 0], [0, 0]]);
  });
  it.each([[4, 0.5], [9, 1]])("keeps %i clips within %f frames for 30 s, with starts, seeks and corrections that are late by chance", async (count, bound) => {
    for (let seed = 1; seed <= 10; seed++) {
      const next = random(seed);
      const players = Array.from({ length: count }, () => new FakePlayer(4, {
        start: () => 0.0015 * count * next(),
        seek: () => 0.05 + 0.2 * next(),
        stall: () => (next() < 0.1 ? 0.3 * next() : 0),
        pace: 1 + 0.001 * (next() - 0.5),
      }));
      const controller = new SyncController(() => clock);
      controller.setTracks(players.map((player, index) => track(String(index), player)));
      await controller.play();
      expect([seed, Math.max(bound, await run(controller, players, 30, { late: () => 0.05 * next() }))]).toEqual([seed, bound]);
    }
  });
  it("waits for a clip that has nothing to show", async () => {
    let stalls = 1;
    players = [new FakePlayer(10), new FakePlayer(10, { stall: (): number => (stalls-- > 0 ? 1.5 : 0) }), new FakePlayer(10)];
    controller.setTracks(players.map((player, index) => track(String(index), player)));
    await controller.play();
    expect(await run(controller, players, 2)).toBeLessThan(3);
    expect(players.map((player) => player.paused)).toEqual([true, true, true]);
    expect(await run(controller, players, 3)).toBeLessThan(0.5);
    expect(players.map((player) => player.paused)).toEqual([false, false, false]);
  });
  it("goes on without a clip that never has anything to show", async () => {
    players[1] = new FakePlayer(10, { stall: () => 100 });
    controller.setTracks(players.map((player, index) => track(String(index), player)));
    await controller.play();
    await run(controller, players, 9);
    expect(controller.time).toBeGreaterThan(5);
    expect(controller.playing).toBe(true);
  });
  it("does not correct by seeking again and again", async () => {
    players[1] = new FakePlayer(10, { pace: 0.5 });
    controller.setTracks(players.map((player, index) => track(String(index), player)));
    await controller.play();
    await run(controller, players, 8);
    expect(players[1].seeks.length).toBeLessThanOrEqual(8);
    expect(players[1].seeks.length).toBeGreaterThan(0);
  });
  it("shows the same frame in all clips after a step", async () => {
    await controller.step(1);
    await controller.step(3);
    expect(players.map((player) => frameAt(player.currentTime, 24))).toEqual([4, 4, 4, 4]);
    await controller.step(-10);
    expect(controller.frame).toBe(0);
    await controller.step(100_000);
    expect(controller.frame).toBe(239);
  });
  it("remembers only the newest target while a seek is under way", async () => {
    for (const player of players) player.slow = true;
    const first = controller.seek(1);
    for (let target = 2; target <= 9; target++) void controller.seek(target);
    const finish = () => players.forEach((player) => player.finish.splice(0).forEach((end) => end()));
    finish();
    await new Promise((resolve) => setTimeout(resolve));
    finish();
    await first;
    expect(players[0]?.seeks).toEqual([1, 9]);
    expect(controller.time).toBe(9);
  });
  it("steps from the newest target when keys repeat faster than seeks", async () => {
    for (const player of players) player.slow = true;
    const steps = [controller.step(1), controller.step(1), controller.step(1)];
    for (let round = 0; round < 4; round++) {
      players.forEach((player) => player.finish.splice(0).forEach((end) => end()));
      await new Promise((resolve) => setTimeout(resolve));
    }
    await Promise.all(steps);
    expect(controller.frame).toBe(3);
  });
  it("keeps an offset, and stops a clip that has ended", async () => {
    await controller.setOffset("1", 12);
    await controller.setOffset("2", -24);
    await controller.play();
    await run(controller, players, 5);
    expect((players[1] as FakePlayer).currentTime - (players[0] as FakePlayer).currentTime).toBeCloseTo(0.5, 1);
    expect((players[0] as FakePlayer).currentTime - (players[2] as FakePlayer).currentTime).toBeCloseTo(1, 1);
    await run(controller, players, 4.8);
    expect((players[1] as FakePlayer).paused).toBe(true);
  });
  it("has one audible clip, which leads and is never nudged", async () => {
    controller.setAudible("2");
    expect(controller.leader?.id).toBe("2");
    expect(players.map((player) => player.muted)).toEqual([true, true, false, true]);
    await controller.play();
    await run(controller, players, 3);
    expect((players[2] as FakePlayer).playbackRate).toBe(1);
    controller.setAudible(null);
    expect(players.every((player) => player.muted)).toBe(true);
  });
  it("lets the longest clip lead", () => {
    controller.setTracks([track("short", new FakePlayer(4)), track("long", new FakePlayer(8))]);
    expect(controller.leader?.id).toBe("long");
    expect(controller.duration).toBe(8);
  });
  it("brings a shorter clip back when the leader begins again", async () => {
    const short = new FakePlayer(4);
    const long = new FakePlayer(8);
    controller.setTracks([track("short", short), track("long", long)]);
    await controller.play();
    await run(controller, [short, long], 6);
    expect(short.paused).toBe(true);
    await run(controller, [short, long], 4);
    expect(short.paused).toBe(false);
    expect(Math.abs(short.currentTime - long.currentTime)).toBeLessThan(0.1);
  });
  it("stops at the end without a loop, and starts over", async () => {
    controller.setLoop(false);
    await controller.play();
    await run(controller, players, 11);
    expect(controller.playing).toBe(false);
    await controller.play();
    expect(controller.time).toBeLessThan(0.1);
  });
  it("makes nothing of clocks that could not be read in one go", async () => {
    let steps = 0;
    // Between two readings other processes had the processor for 30 ms.
    const busy = new SyncController(() => 0.03 * steps++);
    busy.setTracks(players.map((player, index) => track(String(index), player)));
    await busy.play();
    for (const player of players) player.currentTime = 0.03 * players.indexOf(player);
    busy.tick();
    expect(players.map((player) => player.playbackRate)).toEqual([1, 1, 1, 1]);
  });
  it("pauses what is taken away, and survives having nothing", async () => {
    await controller.play();
    controller.setTracks([]);
    expect(players.every((player) => player.paused)).toBe(true);
    await controller.seek(3);
    controller.tick();
    expect(controller.drift()).toBe(0);
  });
});
