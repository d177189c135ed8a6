/** The films as strips of cuts, with the takes or the renders under each shot. */
import type { ComponentChildren } from "preact";
import type { Clip, Cut, Film } from "../data/types";
import { cellKey, isOpenChoice, shownClip, takesOf } from "../data/model";
import { FILM_TEXT, StateBadge, StateIcon } from "../components/State";
import { Poster } from "../components/Poster";
import { count, formatSeconds, formatTime } from "../logic/format";
import { mediaUrl } from "../logic/media-url";
import { go, instanceOf, linkTo, model } from "../state/store";
import { CaptionsToggle, FilmPlayer } from "./FilmPlayer";

export function Story() {
  const { data } = model.value;
  const shots = new Set(data.films.flatMap((film) => film.cuts.map((cut) => shownClip(model.value, cut)?.shot)));
  const others = data.shots.filter((shot) => !shots.has(shot.id)).flatMap((shot) => instances(model.value.clipsOfShot.get(shot.id) ?? []));
  return (
    <div class="story">
      {data.films.map((film) => <FilmSection key={film.name} film={film} />)}
      {data.films.length === 0 && <p class="dim">The workflow joins no film. Its shots in the order of the file:</p>}
      {others.length > 0 && (
        <section class="film">
          <div class="panel-head"><h2>{data.films.length === 0 ? "Shots" : "Shots in no film"}</h2></div>
          <ol class="strip">
            {others.slice(0, MAX_INSTANCES).map((takes) => {
              const clip = takes.find((each) => each.is_picked) ?? takes[0];
              return clip === undefined ? null : <Shot key={clip.id} clip={clip} below={takes} />;
            })}
          </ol>
          {others.length > MAX_INSTANCES && <p class="dim">{others.length - MAX_INSTANCES} more are on the <a href={linkTo({ view: "wall" })}>wall</a>.</p>}
        </section>
      )}
    </div>
  );
}

/** More are looked at on the wall, which builds only what is in view. */
const MAX_INSTANCES = 200;

/** The takes of each instance. */
function instances(clips: Clip[]): Clip[][] {
  const takes = new Map<string, Clip[]>();
  for (const clip of clips) {
    const list = takes.get(cellKey(clip));
    if (list) list.push(clip);
    else takes.set(cellKey(clip), [clip]);
  }
  return [...takes.values()];
}

function FilmSection({ film }: { film: Film }) {
  const playable = mediaUrl(film.file) !== null;
  return (
    <section class={`film${playable ? " playable" : ""}`} aria-label={film.name}>
      <div class="panel-head film-head">
        <h2 dir="auto">{film.name}</h2>
        <span class={`badge film-${film.state}`}>{FILM_TEXT[film.state]}</span>
        <span class="dim num">{count(film.cuts.length, "clip")}, {count(Math.max(0, film.cuts.length - 1), "cut")} · {formatSeconds(film.seconds ?? end(film))}</span>
        {playable && <CaptionsToggle film={film} />}
      </div>
      {playable && <FilmPlayer film={film} />}
      <ol class="strip">
        {film.cuts.map((cut, index) => {
          const clip = shownClip(model.value, cut);
          if (clip === null && (cut.kind === "file" || cut.kind === "title")) return <Own key={index} cut={cut} />;
          if (clip === null) return <li key={index} class="strip-shot"><span class="tile"><span class="tile-text" dir="auto">{cut.clip} is not in the plan</span></span></li>;
          const takes = takesOf(model.value, clip);
          return <Shot key={`${cut.clip}-${index}`} clip={clip} below={takes} start={cut.start} seconds={cut.seconds} />;
        })}
      </ol>
    </section>
  );
}

/** When the last clip ends: transitions overlap, so that it is not the sum. */
function end(film: Film): number | null {
  const last = film.cuts.at(-1);
  return last === undefined || last.seconds === null ? null : last.start + last.seconds;
}

/** A file of one's own, or a title on black: there is nothing to choose or to play. */
function Own({ cut }: { cut: Cut }) {
  return (
    <li class="strip-shot">
      <span class="thumb">
        <span class={`tile${cut.kind === "title" ? " tile-title" : ""}`}><span class="tile-text" dir="auto">{cut.clip}</span></span>
        <span class="stamp num left">{formatTime(cut.start)}</span>
        {cut.seconds !== null && <span class="stamp num">{formatSeconds(cut.seconds)}</span>}
      </span>
      <span class="card-name dim">{cut.kind}</span>
    </li>
  );
}

interface ShotProps {
  clip: Clip;
  /** The takes of its instance, itself included. */
  below: Clip[];
  start?: number;
  seconds?: number | null;
}

function Shot({ clip, below, start, seconds }: ShotProps) {
  const shot = model.value.shot.get(clip.shot);
  const label = instanceOf(clip);
  const takes = below.length > 1 ? below : [];
  const renders = below.length > 1 ? [] : rendersOf(clip);
  const length = start === undefined && !model.value.differs.showsLength ? null : (seconds ?? clip.seconds);
  const choose = shot !== undefined && isOpenChoice(shot) && takes.length > 1 && !takes.some((each) => each.is_picked);
  return (
    <li class="strip-shot">
      <button type="button" class={`strip-open${choose ? " choice" : ""}`} onClick={() => go({ clip: clip.id })}>
        <span class="thumb">
          <Poster clip={clip} eager />
          {start !== undefined && <span class="stamp num left">{formatTime(start)}</span>}
          {length !== null && <span class="stamp num">{formatSeconds(length)}</span>}
        </span>
        <span class="card-name" dir="auto">{label}</span>
        {clip.dialogue !== null && <span class="dialogue" dir="auto">“{clip.dialogue}”</span>}
        {clip.state !== "done" && <StateBadge state={clip.state} />}
      </button>
      {choose && <p class="choose warn">Choose 1 of {takes.length} takes</p>}
      {renders.length > 0 && (
        <ul class="takes" aria-label={`Renders of ${label}`}>
          {renders.map(({ number, counts, key, clip: render }) => (
            <Small key={key} clip={render} name={`${clip.id}, render ${number}`} mark={counts ? "used" : null} open={openRenders}>{number}</Small>
          ))}
        </ul>
      )}
      {takes.length > 0 && (
        <ul class="takes" aria-label={`Takes of ${label}`}>
          {takes.map((take) => (
            <Small key={take.id} clip={take} name={take.id} mark={take.is_picked ? "picked" : null} open={(id) => go({ clip: id })}>
              {take.state !== "done" && <StateIcon state={take.state} />}#{take.take}
            </Small>
          ))}
        </ul>
      )}
    </li>
  );
}

/** The renders of a clip that have a video, as clips with its poster; none where there is only one. */
function rendersOf(clip: Clip): { number: number; counts: boolean; key: string; clip: Clip }[] {
  const renders = (clip.renders ?? []).filter((render) => render.file !== null);
  if (renders.length < 2) return [];
  return renders.map(({ number, counts, key, file, poster = null }) => ({ number, counts, key, clip: { ...clip, state: "done", file, poster } }));
}

/** The details of a clip, at its renders. */
function openRenders(id: string): void {
  go({ clip: id });
  requestAnimationFrame(() => document.querySelector(".renders")?.scrollIntoView({ block: "nearest" }));
}

interface SmallProps {
  clip: Clip;
  name: string;
  mark: "picked" | "used" | null;
  open: (id: string) => void;
  children: ComponentChildren;
}

/** A take or a render: it opens the details of its clip. */
function Small({ clip, name, mark, open, children }: SmallProps) {
  return (
    <li>
      <button type="button" class={`take${mark === null ? "" : " picked"}`} onClick={() => open(clip.id)} title={name} aria-label={`${name}${mark === null ? "" : ` ${mark}`}`}>
        <span class="thumb"><Poster clip={clip} /></span>
        <span class="take-name">{children}{mark !== null && ` ${mark}`}</span>
      </button>
    </li>
  );
}
