/** Data of pages under test. */
import type { Clip, Film, Json, Render, Shot, ViewerData } from "../../src/data/types";

export function clip(id: string, change: Partial<Clip> = {}): Clip {
  return {
    id,
    shot: id.replace(/[@#].*$/, ""),
    cell: {},
    take: null,
    state: "done",
    is_picked: false,
    file: `${id}.mp4`,
    poster: `${id}.jpg`,
    proxy: null,
    bytes: 480_000,
    width: 854,
    height: 480,
    seconds: 4,
    frame_rate: 24,
    has_audio: false,
    model: "modela-video-2-0-260128",
    family: "a",
    prompt: `the ${id}`,
    seed: 7,
    dialogue: null,
    request: { model: "modela-video-2-0-260128", prompt: `the ${id}`, seconds: "4", metadata: { seed: 7 } },
    key: "c786b7a7bf87",
    task: `task_${id}`,
    cost: 120_000,
    elapsed_ms: 42_000,
    attempts: [{ attempt: `at_${id}`, key: "c786b7a7bf87", task: `task_${id}`, intended_at: 1_790_000_000_000, result: "done", message: null }],
    failure: null,
    parents: [],
    command: `runner run film.yaml --rerun '${id}'`,
    ...change,
  };
}

export function render(number: number, file: string, counts: boolean): Render {
  return { number, key: number === 1 ? "c786b7a7bf87" : `c786b7a7bf87-${number}`, file: `clips/${file}.mp4`, poster: `clips/${file}.jpg`, bytes: 480_000, made_at: 1_790_000_000_000 + number, is_asked: number > 1, counts, cost: 120_000 };
}

export function page(name: string, shots: Shot[], clips: Clip[], films: Film[] = []): ViewerData {
  return {
    version: 4,
    generator: "runner 0.1.0",
    created_at: 1_790_000_000_000,
    workflow: { name, file: `${name}.yaml`, title: null, arguments: `${name}.yaml` },
    currency: "USD",
    shots,
    clips,
    films,
  };
}

export function shot(id: string, change: Partial<Shot> = {}): Shot {
  return { id, axes: [], takes: 1, pick: null, note: null, ...change };
}

const STYLES: Record<string, string> = {
  noir: "black and white, hard side light, wet stone, deep shadow, 35 mm film grain",
  pastel: "pastel colors, soft overcast light, low contrast, calm",
  golden: "dusk, low golden sun through thin fog, long shadows, warm haze",
  neon: "night, neon light on wet streets, reflections, saturated color",
};

/** A film with takes, one pick open, and a sweep of 4 x 6 cells; `cargo xtask web --test` draws the files. */
export function film(): ViewerData {
  const media = (file: string): Partial<Clip> => ({ file: `clips/${file}.mp4`, poster: `clips/${file}.jpg` });
  const prompted = (prompt: string, seed: number): Partial<Clip> => ({
    prompt,
    seed,
    request: { model: "modela-video-2-0-260128", prompt, seconds: "4", metadata: { resolution: "480p", ratio: "16:9", seed } },
  });
  const keeper = "a grey-bearded lighthouse keeper in a worn yellow raincoat";
  const clips: Clip[] = [
    clip("breakwater", { ...media("breakwater"), has_audio: true, ...prompted(`Wide shot: ${keeper} walks along the breakwater below the lighthouse; the storm is still far out.`, 3) }),
    clip("sea", { ...media("sea"), has_audio: true, dialogue: "It comes in faster than they said.", parents: [{ clip: "breakwater", kind: "continues" }], ...prompted("The storm breaks over the sea: high waves, rain, dark clouds.", 3) }),
    clip("lamp#1", { ...media("lamp-1"), has_audio: true, take: 1, is_picked: true, dialogue: "Come on. Light.", parents: [{ clip: "sea", kind: "needs" }], ...prompted("The lamp of the lighthouse turns on; warm light, rain on the glass.", 1) }),
    clip("lamp#2", { ...media("lamp-2"), has_audio: true, take: 2, parents: [{ clip: "sea", kind: "needs" }], ...prompted("The lamp of the lighthouse turns on; warm light, rain on the glass.", 2) }),
    clip("lamp#3", { file: null, poster: null, take: 3, state: "failed", seconds: null, cost: null, failure: "The service refused the prompt: content policy", parents: [{ clip: "sea", kind: "needs" }], ...prompted("The lamp of the lighthouse turns on; warm light, rain on the glass.", 5), attempts: [
      { attempt: "at_1", key: "c786b7a7bf87", task: "task_9f1c", intended_at: 1_790_000_000_000, result: "failed", message: "The service refused the prompt: content policy" },
    ] }),
    clip("sunrise", { ...media("sunrise"), has_audio: true, renders: ["sea", "breakwater", "sunrise", "lamp-1", "lamp-2"].map((file, index) => render(index + 1, file, file === "sunrise")), parents: [{ clip: "lamp#1", kind: "continues" }], ...prompted("Sunrise over a calm sea, golden light, clear sky.", 3) }),
    clip("gulls#1", { ...media("breakwater"), take: 1, ...prompted("Gulls over the harbor, handheld.", 1) }),
    clip("gulls#2", { ...media("sunrise"), take: 2, ...prompted("Gulls over the harbor, handheld.", 2) }),
    clip("epilogue", { file: null, poster: null, state: "unpicked", seconds: null, cost: null, elapsed_ms: null, attempts: [], task: null, parents: [{ clip: "gulls#1", kind: "pick" }, { clip: "gulls#2", kind: "pick" }], ...prompted("The gulls leave the harbor.", 3) }),
  ];
  for (const [look, style] of Object.entries(STYLES)) {
    for (let seed = 1; seed <= 6; seed++) {
      clips.push(clip(`harbor@look=${look},seed=${seed}`, {
        cell: { look, seed },
        ...media(`harbor-${look}-${seed}`),
        cost: 90_000 + 1_000 * seed,
        elapsed_ms: 30_000 + 1_500 * seed,
        ...prompted(`A small fishing harbor below a lighthouse, boats knocking at the quay. Slow, steady push in. ${style}.`, seed),
      }));
    }
  }
  const shots = [
    shot("breakwater", { note: "opens wide and quiet" }),
    shot("sea"),
    shot("lamp", { takes: 3, pick: "lamp#1" }),
    shot("sunrise"),
    shot("gulls", { takes: 2 }),
    shot("epilogue"),
    shot("harbor", { axes: [{ name: "look", values: Object.keys(STYLES) }, { name: "seed", values: [1, 2, 3, 4, 5, 6] }] }),
  ];
  const captions = [
    { start: 4.5, end: 7, speaker: null, text: "It comes in faster than they said." },
    { start: 8, end: 9.5, speaker: "Keeper", text: "Come on. <Light> & more." },
  ];
  const cuts = ["breakwater", "sea", "lamp#1", "sunrise"].map((id, index) => ({ clip: id, kind: "shot" as const, start: 4 * index, seconds: 4 }));
  return {
    ...page("lighthouse", shots, clips, [
      { name: "lighthouse", file: "clips/film.mp4", poster: "clips/sea.jpg", seconds: 16, state: "done", cuts, captions },
      { name: "epilogue", file: null, poster: null, seconds: null, state: "unpicked", cuts: [{ clip: "lamp#1", kind: "title", start: 0, seconds: 2 }, { clip: "gulls#1", kind: "shot", start: 2, seconds: 4 }, { clip: "epilogue", kind: "shot", start: 6, seconds: null }, { clip: "logo.png", kind: "file", start: 10, seconds: 1.5 }], captions: [] },
    ]),
    workflow: { name: "lighthouse", file: "storyboard.yaml", title: "The lighthouse", arguments: "storyboard.yaml" },
  };
}

/** Four looks, rows of a table, five moves and three figures of which two begin alike. */
export function sweep60(): ViewerData {
  const looks = Object.entries(STYLES).map(([name, light]) => ({ name, light }));
  const moves = ["crane up", "push in", "pan left", "orbit", "static"];
  const people = ["a fisherman with a lantern", "a fisherman with a rope", "a cat"];
  const clips = looks.flatMap((look) => moves.flatMap((move, column) => people.map((who, index) => {
    const file = `clips/harbor-${look.name}-${1 + ((column + 2 * index) % 6)}`;
    const prompt = `${who} at the harbor, ${look.light}. ${move}.`;
    const id = `harbor@look=${look.name},move=${move.replace(" ", "-")},who=${who.replaceAll(" ", "-")}`;
    return clip(id, { cell: { look, move, who }, file: `${file}.mp4`, poster: `${file}.jpg`, prompt, request: { model: "modela-video-2-0-260128", prompt, seconds: "4" } });
  })));
  const axes = [{ name: "look", values: looks }, { name: "move", values: moves }, { name: "who", values: people }];
  return { ...page("sweep", [shot("harbor", { axes })], clips), currency: null };
}

/** A sweep of many cells, without clips. */
export function wall(count: number): ViewerData {
  const clips: Clip[] = [];
  for (let index = 0; index < count; index++) {
    const cell: Record<string, Json> = { look: ["noir", "pastel", "golden", "neon"][index % 4] as string, seed: Math.floor(index / 4) };
    clips.push(clip(`cell@${index}`, {
      shot: "cell",
      cell,
      file: null,
      poster: `posters/${index}.jpg`,
      cost: 1_000 * ((index * 37) % 500),
      state: index % 50 === 7 ? "failed" : "done",
      prompt: `a harbor, number ${index}, ${String(cell["look"])}`,
      ...(index % 50 === 7 ? { poster: null, failure: "timed out" } : {}),
    }));
  }
  const seeds = Array.from({ length: Math.ceil(count / 4) }, (_, index) => index);
  return page("sweep", [shot("cell", { axes: [{ name: "look", values: ["noir", "pastel", "golden", "neon"] }, { name: "seed", values: seeds }] })], clips);
}

/** Text that tries to be markup, a script, a path or a surprise. */
export const HOSTILE: string[] = [
  "</script><script>window.injected = 1; alert(1)</script>",
  "<img src=x onerror=\"window.injected = 1\"><!-- <b>bold</b>",
  "\u202Egnirts desrever\u202C and \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
  "zero\u200bwidth\u2060 and \u2028 line separators",
  "👩‍👩‍👧‍👦 family, 🏳️‍🌈 flag, e\u0301 accent",
  `long ${"word ".repeat(820)}`,
  "{{ constructor }} ${7*7} javascript:alert(1) &lt;b&gt; \" ' ` \\",
];

export function hostile(): ViewerData {
  const names = ["__proto__", "constructor", "a\"b'c", "<b>x</b>", "ünïcødé 🚢", "toString", "x&y=z#1%41"];
  const clips = HOSTILE.map((text, index) => clip(names[index] as string, {
    shot: names[index] as string,
    cell: index < 2 ? { [text]: text, toString: "own" } : {},
    prompt: text,
    dialogue: text,
    failure: index % 2 === 0 ? text : null,
    state: index % 2 === 0 ? "failed" : "done",
    file: ["../../etc/passwd", "javascript:alert(1)", "https://example.com/a.mp4", "//example.com/a.mp4", "a#b?c%.mp4", null, "x\\..\\y.mp4"][index] as string | null,
    poster: ["../outside.jpg", "javascript:alert(1)", "https://example.com/a.jpg", "//example.com/a.jpg", "a#b?c%.jpg", null, "data:text/html,<b>"][index] as string | null,
    model: text.slice(0, 60),
    command: `runner run 'film.yaml' --rerun '${text.slice(0, 80)}'`,
    request: { prompt: text, "<b>": [text.slice(0, 50)] },
    parents: [{ clip: "no such clip <b>", kind: "needs" }],
    attempts: [{ attempt: text.slice(0, 30), key: text.slice(0, 30), task: text.slice(0, 30), intended_at: null, result: "failed", message: text }],
  }));
  const data = page("hostile", names.map((name, index) => shot(name, { note: HOSTILE[index] ?? null, axes: index < 2 ? [{ name: HOSTILE[index] as string, values: [HOSTILE[index] as string, "other"] }] : [] })), clips, [
    { name: HOSTILE[1] as string, file: "../film.mp4", poster: null, seconds: null, state: "failed", cuts: clips.map((each, index) => ({ clip: each.id, kind: "shot" as const, start: index, seconds: 1 })), captions: [{ start: 0, end: 1, speaker: "<b>", text: HOSTILE[1] as string }] },
  ]);
  return { ...data, workflow: { name: "hostile", file: "<b>.yaml", title: HOSTILE[0] as string } };
}
