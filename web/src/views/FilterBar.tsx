/** Search, filters and order of the wall. */
import type { ComponentChildren } from "preact";
import { Icon } from "../components/Icon";
import { Menu } from "../components/Menu";
import { STATE_TEXT } from "../components/State";
import { isLive } from "../live/server";
import { RATING_LABELS, RATING_ORDER, ratingKey } from "../logic/rating";
import { isFiltered, NO_FILTER, type Sort } from "../logic/filter";
import { valueLabel } from "../logic/values";
import type { StatusKind } from "../data/types";
import { go, model, route } from "../state/store";

const SORT_LABELS: Record<Sort, string> = { plan: "Plan order", rating: "Rating", cost: "Cost", duration: "Duration", time: "Time to render", state: "State" };

export function FilterBar({ children }: { children: ComponentChildren }) {
  const { filter, sort, descending } = route.value;
  const { data, models, states, axes } = model.value;
  const change = (next: Partial<typeof filter>) => go({ filter: { ...filter, ...next } }, "replace");
  return (
    <div class="toolbar" role="search">
      <label class="search">
        <Icon name="search" />
        <span class="hidden">Search prompts, names and parameters</span>
        <input id="search" type="search" placeholder="Search prompt, name, parameter" value={filter.query} onInput={(event) => change({ query: event.currentTarget.value })} />
      </label>
      {data.shots.length > 1 && (
        <Menu label="Shot" chosen={filter.shots} onChange={(shots) => change({ shots })} options={data.shots.map((shot) => ({ key: shot.id, label: shot.id }))} />
      )}
      {axes.filter((axis) => axis.values.length > 1).map((axis) => (
        <Menu
          key={axis.name}
          label={axis.name}
          chosen={filter.axes[axis.name] ?? []}
          onChange={(keys) => change({ axes: { ...filter.axes, [axis.name]: keys } })}
          options={axis.values.map(({ key, value }) => ({ key, label: valueLabel(value) }))}
        />
      ))}
      {models.length > 1 && <Menu label="Model" chosen={filter.models} onChange={(chosen) => change({ models: chosen })} options={models.map((name) => ({ key: name, label: name }))} />}
      {states.length > 1 && (
        <Menu
          label="State"
          chosen={filter.states}
          onChange={(chosen) => change({ states: chosen })}
          options={states.map(({ state, count }) => ({ key: state, label: STATE_TEXT[state as StatusKind].label, count }))}
        />
      )}
      {(isLive.value || data.clips.some((clip) => ratingKey(clip) !== "none")) && (
        <Menu
          label="Rating"
          chosen={filter.ratings}
          onChange={(ratings) => change({ ratings })}
          options={RATING_ORDER.map((key) => ({ key, label: RATING_LABELS[key] ?? key, count: data.clips.filter((clip) => ratingKey(clip) === key).length }))}
        />
      )}
      {isFiltered(filter) && <button type="button" class="button quiet" onClick={() => go({ filter: NO_FILTER })}>Clear</button>}
      <span class="spacer" />
      <label class="field">
        <span class="dim">Sort</span>
        <select value={sort} onChange={(event) => go({ sort: event.currentTarget.value as Sort }, "replace")}>
          {Object.entries(SORT_LABELS).map(([key, label]) => <option key={key} value={key}>{label}</option>)}
        </select>
      </label>
      <button type="button" class="button" aria-pressed={descending} onClick={() => go({ descending: !descending }, "replace")} aria-label="Descending" title="Descending">
        {descending ? "↓" : "↑"}
      </button>
      {children}
    </div>
  );
}
