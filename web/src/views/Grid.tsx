/** A shot's axes across and down; the selected cells play in step. */
import { useEffect } from "preact/hooks";
import type { Clip, Shot } from "../data/types";
import { ABSENT, layoutGrid, type GridLayout } from "../logic/grid-layout";
import { Icon } from "../components/Icon";
import { Transport } from "../components/Transport";
import { useKeys } from "../state/keys";
import { go, model, route, select } from "../state/store";
import type { SyncSession } from "../state/sync-session";
import { useSession } from "../state/use-session";
import { GridCell } from "./GridCell";

/** Full clips that play together without stutter; with proxies, more. */
const MAX_FULL = 9;
const MAX_PROXIES = 25;

export function Grid() {
  const session = useSession();
  const shot = shownShot();
  if (shot === null) return <div class="empty"><p>The plan has no shots.</p></div>;
  const clips = model.value.clipsOfShot.get(shot.id) ?? [];
  const layout = layoutGrid(shot, clips, route.value.grid);
  const cells = layout.cells.flat().filter((clip) => clip !== null);
  const active = activeCells(cells);
  return (
    <div class="grid-view">
      <GridTools shot={shot} layout={layout} cells={cells} />
      <GridTable layout={layout} active={active} session={session} />
      <Transport session={session} />
    </div>
  );
}

/** The shot of the route, else the first one with axes. */
function shownShot(): Shot | null {
  const { data, shot } = model.value;
  const named = route.value.shot === null ? undefined : shot.get(route.value.shot);
  return named ?? data.shots.find((each) => each.axes.length > 0) ?? data.shots.find((each) => each.takes > 1) ?? data.shots[0] ?? null;
}

/** The selected cells, or as many as can play together. */
function activeCells(cells: Clip[]): Clip[] {
  const playable = cells.filter((clip) => clip.file !== null);
  const selected = playable.filter((clip) => route.value.selected.includes(clip.id));
  const wanted = selected.length > 0 ? selected : playable;
  const limit = wanted.every((clip) => clip.proxy !== null) ? MAX_PROXIES : MAX_FULL;
  return wanted.slice(0, limit);
}

function GridTools({ shot, layout, cells }: { shot: Shot; layout: GridLayout; cells: Clip[] }) {
  const { grid } = route.value;
  const { data, clipsOfShot } = model.value;
  const several = layout.axes.filter((axis) => axis.values.length > 1);
  const shots = data.shots.filter((each) => (clipsOfShot.get(each.id)?.length ?? 0) > 0);
  const swap = () => go({ grid: { ...grid, across: layout.down?.name ?? null, down: layout.across?.name ?? null } }, "replace");
  useKeys("Grid", [
    { keys: ["t"], label: "Swap rows and columns", run: swap },
    { keys: ["a"], label: "Select all cells, or none", run: () => select(route.peek().selected.length > 0 ? [] : cells.map((clip) => clip.id)) },
    { keys: ["c"], label: "Compare the selected clips", run: () => route.peek().selected.length > 1 && go({ view: "compare" }) },
  ]);
  return (
    <div class="toolbar">
      <label class="field">
        <span class="dim">Shot</span>
        <select value={shot.id} onChange={(event) => go({ shot: event.currentTarget.value, grid: { across: null, down: null, fixed: {} } })}>
          {shots.map((each) => <option key={each.id} value={each.id}>{each.id}</option>)}
        </select>
      </label>
      {several.length > 0 && (
        <label class="field">
          <span class="dim">Across</span>
          <select value={layout.across?.name ?? ""} onChange={(event) => go({ grid: { ...grid, across: event.currentTarget.value, down: layout.down?.name === event.currentTarget.value ? (layout.across?.name ?? null) : grid.down } }, "replace")}>
            {several.map((axis) => <option key={axis.name} value={axis.name}>{axis.name}</option>)}
          </select>
        </label>
      )}
      {several.length > 1 && (
        <>
          <button type="button" class="button icon-only" onClick={swap} aria-label="Swap rows and columns" title="Swap rows and columns  t"><Icon name="swap" /></button>
          <label class="field">
            <span class="dim">Down</span>
            <select value={layout.down?.name ?? ABSENT} onChange={(event) => go({ grid: { ...grid, across: layout.across?.name ?? null, down: event.currentTarget.value } }, "replace")}>
              <option value={ABSENT}>nothing</option>
              {several.filter((axis) => axis !== layout.across).map((axis) => <option key={axis.name} value={axis.name}>{axis.name}</option>)}
            </select>
          </label>
        </>
      )}
      {layout.rest.filter(({ axis }) => axis.values.length > 1).map(({ axis, key }) => (
        <label key={axis.name} class="field">
          <span class="dim" dir="auto">{axis.name}</span>
          <select aria-label={axis.name} value={key} onChange={(event) => go({ grid: { ...grid, fixed: { ...grid.fixed, [axis.name]: event.currentTarget.value } } }, "replace")}>
            {axis.values.map((value) => <option key={value.key} value={value.key}>{value.label}</option>)}
          </select>
        </label>
      ))}
      <span class="spacer" />
      {shot.note !== null && <span class="dim note" dir="auto">{shot.note}</span>}
    </div>
  );
}

function GridTable({ layout, active, session }: { layout: GridLayout; active: Clip[]; session: SyncSession }) {
  const ids = active.map((clip) => clip.id);
  const useProxy = active.length > MAX_FULL;
  useEffect(() => session.order(ids), [session, ids.join("\n")]);
  return (
    <div class="grid-scroll" tabIndex={0} role="region" aria-label="Grid of clips">
      <table class="grid" style={{ "--columns": String(layout.columns.length) }}>
        {layout.across !== null && (
          <thead>
            <tr>
              {layout.down !== null && <th class="corner"><span class="dim">{layout.down.name}</span></th>}
              {layout.columns.map((column) => <th key={column.key} scope="col" dir="auto">{column.heading}</th>)}
            </tr>
          </thead>
        )}
        <tbody>
          {layout.rows.map((row, index) => (
            <tr key={row.key}>
              {layout.down !== null && <th scope="row" dir="auto">{row.heading}</th>}
              {layout.columns.map((column, at) => {
                const clip = layout.cells[index]?.[at] ?? null;
                return (
                  <td key={column.key}>
                    {clip === null ? <span class="cell-none">no such cell</span> : (
                      <GridCell clip={clip} session={session} isActive={ids.includes(clip.id)} useProxy={useProxy} />
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
