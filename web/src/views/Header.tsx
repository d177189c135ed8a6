/** Title, views, totals and what applies to the whole page. */
import { STATE_TEXT, StateIcon } from "../components/State";
import { RunButton } from "../live/JobStrip";
import { Icon } from "../components/Icon";
import { isOpenChoice, totalCost } from "../data/model";
import type { StatusKind } from "../data/types";
import { count, formatCost, formatDate } from "../logic/format";
import { NO_FILTER } from "../logic/filter";
import { VIEWS, type View } from "../logic/route";
import { setTheme, theme, type Theme } from "../state/preferences";
import { allPaused, go, linkTo, model, route } from "../state/store";
import { openHelp } from "./Help";

export const VIEW_LABELS: Record<View, string> = { wall: "Wall", grid: "Grid", compare: "Compare", story: "Story", graph: "Graph" };
/** Capitals: digits rate clips. */
export const VIEW_KEYS: Record<View, string> = { wall: "W", grid: "G", compare: "C", story: "S", graph: "H" };
const NEXT_THEME: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

export function Header() {
  const { data } = model.value;
  const selected = route.value.selected.length;
  return (
    <header class="header">
      <div class="title">
        <h1 dir="auto">{data.workflow.title ?? data.workflow.name}</h1>
        <span class="dim file" title={`Written ${formatDate(data.created_at)} by ${data.generator}`}>{data.workflow.file}</span>
      </div>
      <nav class="tabs" aria-label="Views">
        {VIEWS.map((view) => (
          <a
            key={view}
            class="tab"
            href={linkTo({ view, clip: null })}
            title={`${VIEW_LABELS[view]}  ${VIEW_KEYS[view]}`}
            {...(route.value.view === view ? { "aria-current": "page" as const } : {})}
          >
            {VIEW_LABELS[view]}
            {view === "compare" && selected > 0 && <span class="count">{selected}</span>}
          </a>
        ))}
      </nav>
      <Totals />
      <div class="header-tools">
        <RunButton />
        <button type="button" class="button icon-only" aria-pressed={allPaused.value} onClick={() => (allPaused.value = !allPaused.value)} aria-label="Pause everything that moves" title="Pause everything that moves  P">
          <Icon name="pause" />
        </button>
        <button type="button" class="button icon-only" onClick={() => setTheme(NEXT_THEME[theme.value])} aria-label={`Colors: ${theme.value}`} title={`Colors: ${theme.value}`}>
          <Icon name="theme" />
        </button>
        <button type="button" class="button icon-only" onClick={openHelp} aria-label="Keys" title="Keys  ?">
          <Icon name="keyboard" />
        </button>
      </div>
    </header>
  );
}

/** States in which somebody has to do something. */
const NEED_ACTION: ReadonlySet<StatusKind> = new Set(["failed", "indeterminate", "missing", "unrecorded", "detached", "at-other-service", "unpicked"]);

function Totals() {
  const { data, states } = model.value;
  const choices = data.shots.filter(isOpenChoice);
  const needsAction = choices.length > 0 || states.some(({ state }) => NEED_ACTION.has(state));
  const costs = data.clips.map(totalCost).filter((cost) => cost !== null);
  const cost = costs.length === 0 || data.currency === null ? null : costs.reduce((sum, each) => sum + each, 0);
  return (
    <div class={`totals${needsAction ? " needs-action" : ""}`}>
      {states.map(({ state, count: number }) => (
        <button key={state} type="button" class={`total${NEED_ACTION.has(state) ? " action" : ""}`} onClick={() => go({ view: "wall", clip: null, filter: { ...NO_FILTER, states: [state] } })} title={`Show the clips that are ${STATE_TEXT[state].label}`}>
          <StateIcon state={state} />
          <span class="num">{number.toLocaleString("en")}</span> <span class="dim">{STATE_TEXT[state].label}</span>
        </button>
      ))}
      {choices.length > 0 && (
        <button type="button" class="total action warn" onClick={() => go({ view: "wall", clip: null, filter: { ...NO_FILTER, shots: choices.map((shot) => shot.id) } })} title="Show the takes to pick from">
          {count(choices.length, "open pick")}
        </button>
      )}
      {cost !== null && <span class="total num">{formatCost(cost, data.currency)}</span>}
    </div>
  );
}
