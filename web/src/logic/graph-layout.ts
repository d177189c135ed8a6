/** The plan by layers: a clip stands to the right of everything that it depends on; takes of an open or settled pick join in a choice. */
import type { Model } from "../data/model";
import { cellKey } from "../data/model";
import { wrap } from "./labels";
import type { Clip } from "../data/types";

export interface GraphNode {
  id: string;
  kind: "clip" | "choice";
  clip: Clip | null;
  /** What a clip is called, then its values. */
  lines: string[];
  /** Of a choice: how many takes it has, and the picked one. */
  takes: number;
  picked: string | null;
  x: number;
  y: number;
}

export interface GraphEdge {
  from: string;
  to: string;
  kind: "continues" | "reference" | "needs" | "candidate" | "pick";
  /** A take that is not the picked one, or one of an open choice. */
  faint: boolean;
}

export interface GraphLayout {
  nodes: GraphNode[];
  edges: GraphEdge[];
  width: number;
  height: number;
  /** Of each node: as much as the highest needs. */
  nodeHeight: number;
}

export const NODE_WIDTH = 190;
const NODE_HEIGHT = 44;
export const LINE_HEIGHT = 15;
/** Letters that fit into a line of a node. */
const MAX_LETTERS = 22;
export const CHOICE_WIDTH = 132;
const GAP_X = 56;
const GAP_Y = 14;
const MARGIN = 24;
/** Columns of clips without dependencies. */
const LOOSE_COLUMNS = 5;

export function layoutGraph(model: Model): GraphLayout {
  const { nodes, edges } = collect(model);
  const before = new Map<string, string[]>();
  const after = new Map<string, string[]>();
  for (const edge of edges) {
    before.set(edge.to, [...(before.get(edge.to) ?? []), edge.from]);
    after.set(edge.from, [...(after.get(edge.from) ?? []), edge.to]);
  }
  const linked = nodes.filter((node) => before.has(node.id) || after.has(node.id));
  const loose = nodes.filter((node) => !before.has(node.id) && !after.has(node.id));
  const layers = layer(linked, before);
  const nodeHeight = NODE_HEIGHT + LINE_HEIGHT * Math.max(0, ...nodes.map((node) => node.lines.length - 1));
  const step = nodeHeight + GAP_Y;
  let bottom = MARGIN;
  const y = new Map<string, number>();
  layers.forEach((column, index) => {
    arrange(column, before, y);
    let next = MARGIN;
    for (const node of column) {
      const wanted = mean((before.get(node.id) ?? []).map((id) => y.get(id) ?? MARGIN)) ?? next;
      node.x = MARGIN + index * (NODE_WIDTH + GAP_X);
      node.y = Math.max(next, wanted);
      y.set(node.id, node.y);
      next = node.y + step;
      bottom = Math.max(bottom, next);
    }
  });
  loose.forEach((node, index) => {
    node.x = MARGIN + (index % LOOSE_COLUMNS) * (NODE_WIDTH + GAP_Y);
    node.y = bottom + (linked.length > 0 ? GAP_Y : 0) + Math.floor(index / LOOSE_COLUMNS) * step;
  });
  const width = Math.max(0, ...nodes.map((node) => node.x + NODE_WIDTH)) + MARGIN;
  const height = Math.max(0, ...nodes.map((node) => node.y + nodeHeight)) + MARGIN;
  return { nodes, edges, width, height, nodeHeight };
}

function collect(model: Model): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = [];
  const choices = new Map<string, string>();
  const takes = new Map<string, Clip[]>();
  for (const clip of model.data.clips) takes.set(cellKey(clip), [...(takes.get(cellKey(clip)) ?? []), clip]);
  for (const clip of model.data.clips) {
    const { name, values } = model.labels.get(clip.id) ?? { name: clip.id, values: [] };
    const lines = [name, values.join(" · ")].filter((part) => part !== "").flatMap((part) => wrap(part, MAX_LETTERS));
    nodes.push({ id: clip.id, kind: "clip", clip, lines, takes: 0, picked: null, x: 0, y: 0 });
    const candidates = takes.get(cellKey(clip)) ?? [];
    if (candidates.length < 2 || clip !== candidates[candidates.length - 1]) continue;
    const id = `choice:${cellKey(clip)}`;
    const picked = candidates.find((each) => each.is_picked)?.id ?? null;
    nodes.push({ id, kind: "choice", clip: null, lines: [], takes: candidates.length, picked, x: 0, y: 0 });
    for (const each of candidates) {
      choices.set(each.id, id);
      edges.push({ from: each.id, to: id, kind: "candidate", faint: each.id !== picked });
    }
  }
  for (const clip of model.data.clips) {
    const joined = new Set<string>();
    for (const parent of clip.parents) {
      if (!model.clip.has(parent.clip)) continue;
      const choice = choices.get(parent.clip);
      const isPicked = model.clip.get(parent.clip)?.is_picked === true;
      // A reference to one take by name (`lamp#2`) does not go through the choice.
      const from = choice !== undefined && (parent.kind === "pick" || isPicked) ? choice : parent.clip;
      if (joined.has(from)) continue;
      joined.add(from);
      edges.push({ from, to: clip.id, kind: parent.kind, faint: parent.kind === "pick" });
    }
  }
  return { nodes, edges };
}

/** Nodes by the length of the longest path that leads to them. A cycle, which no plan has, ends at its first node. */
function layer(nodes: GraphNode[], before: Map<string, string[]>): GraphNode[][] {
  const depth = new Map<string, number>();
  const depthOf = (start: string): number => {
    const stack = [start];
    const open = new Set<string>();
    while (stack.length > 0) {
      const id = stack[stack.length - 1] as string;
      const parents = before.get(id) ?? [];
      const next = parents.find((parent) => !depth.has(parent) && !open.has(parent));
      open.add(id);
      if (next !== undefined) {
        stack.push(next);
        continue;
      }
      depth.set(id, Math.max(0, ...parents.map((parent) => (depth.get(parent) ?? -1) + 1)));
      stack.pop();
    }
    return depth.get(start) ?? 0;
  };
  const layers: GraphNode[][] = [];
  for (const node of nodes) (layers[depthOf(node.id)] ??= []).push(node);
  return Array.from(layers, (column) => column ?? []);
}

/** Orders a layer by the mean position of what its nodes depend on. */
function arrange(column: GraphNode[], before: Map<string, string[]>, y: Map<string, number>): void {
  const key = new Map(column.map((node, index) => [node.id, mean((before.get(node.id) ?? []).map((id) => y.get(id) ?? 0)) ?? index]));
  column.sort((a, b) => (key.get(a.id) ?? 0) - (key.get(b.id) ?? 0));
}

function mean(values: number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
