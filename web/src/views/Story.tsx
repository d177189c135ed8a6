/** The films as strips of cuts, with the takes under each shot. */
import type { Clip, Cut, Film } from "../data/types";
import { cellKey, isOpenChoice, shownClip, takesOf } from "../data/model";
import { FILM_TEXT, StateBadge, StateIcon } from "../components/State";
import { Poster } from "../components/Poster";
import { count, formatSeconds, formatTime } from "../logic/format";
import { mediaUrl } from "../logic/media-url";
import { go, model } from "../state/store";
import { CaptionsToggle, FilmPlayer } from "./FilmPlayer";

export function Story() {
  const { data } = model.value;
  const shots = new Set(data.films.flatMap((film) => film.cuts.map((cut) => shownClip(model.value, cut)?.shot)));
  const others = data.shots.filter((shot) => !shots.has(shot.id));
  return (
    <div class="story">
      {data.films.map((film) => <FilmSection key={film.name} film={film} />)}
      {data.films.length === 0 && <p class="dim">The workflow joins no film. Its shots in the order of the file:</p>}
      {others.length > 0 && (
        <section class="film">
          <div class="panel-head"><h2>{data.films.length === 0 ? "Shots" : "Shots in no film"}</h2></div>
          <ol class="strip">
            {others.map((shot) => {
              const clips = model.value.clipsOfShot.get(shot.id) ?? [];
              const clip = clips.find((each) => each.is_picked) ?? clips[0];
              return clip === undefined ? null : <Shot key={shot.id} clip={clip} label={shot.id} below={clips} />;
            })}
          </ol>
        </section>
      )}
    </div>
  );
}

function FilmSection({ film }: { film: Film }) {
  const playable = mediaUrl(film.file) !== null;
  return (
    <section class="film" aria-label={film.name}>
      <div class="panel-head film-head">
        <h2 dir="auto">{film.name}</h2>
        <span class={`badge film-${film.state}`}>{FILM_TEXT[film.state]}</span>
        <span class="dim num">{count(film.cuts.length, "cut")} · {formatSeconds(film.seconds ?? total(film))}</span>
        {playable && <CaptionsToggle film={film} />}
      </div>
      {playable && <FilmPlayer film={film} />}
      <ol class="strip">
        {film.cuts.map((cut, index) => {
          const clip = shownClip(model.value, cut);
          if (clip === null && (cut.kind === "file" || cut.kind === "title")) return <Own key={index} cut={cut} />;
          if (clip === null) return <li key={index} class="strip-shot"><span class="tile"><span class="tile-text" dir="auto">{cut.clip} is not in the plan</span></span></li>;
          const takes = takesOf(model.value, clip);
          return <Shot key={`${cut.clip}-${index}`} clip={clip} label={clip.shot} below={takes.length > 1 ? takes : []} start={cut.start} seconds={cut.seconds} />;
        })}
      </ol>
    </section>
  );
}

function total(film: Film): number | null {
  const lengths = film.cuts.map((cut) => cut.seconds);
  return lengths.some((length) => length === null) ? null : lengths.reduce<number>((sum, length) => sum + (length ?? 0), 0);
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
  label: string;
  below: Clip[];
  start?: number;
  seconds?: number | null;
}

function Shot({ clip, label, below, start, seconds }: ShotProps) {
  const shot = model.value.shot.get(clip.shot);
  const takes = below.filter((each) => cellKey(each) === cellKey(clip));
  const length = seconds ?? clip.seconds;
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
      {below.length > 0 && (
        <ul class="takes" aria-label={`Takes of ${label}`}>
          {below.map((take) => (
            <li key={take.id}>
              <button type="button" class={`take${take.is_picked ? " picked" : ""}`} onClick={() => go({ clip: take.id })} title={take.id} aria-label={`${take.id}${take.is_picked ? " picked" : ""}`}>
                <span class="thumb"><Poster clip={take} /></span>
                <span class="take-name">{(!take.is_picked || take.state !== "done") && <StateIcon state={take.state} />}{take.take !== null && `#${take.take}`}{take.is_picked && " picked"}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}
