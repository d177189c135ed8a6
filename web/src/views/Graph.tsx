/** The plan by layers. An open pick is a choice between its takes. */
import { useMemo, useState } from "preact/hooks";
import { CHOICE_WIDTH, LINE_HEIGHT, NODE_WIDTH, layoutGraph, type GraphEdge, type GraphNode } from "../logic/graph-layout";
import { Icon } from "../components/Icon";
import { STATE_TEXT, StateBadge } from "../components/State";
import { useKeys } from "../state/keys";
import { linkTo, model, route } from "../state/store";

const SCALES = [0.5, 0.67, 0.8, 1, 1.25];

export function Graph() {
  const layout = useMemo(() => layoutGraph(model.value), [model.value]);
  const [zoom, setZoom] = useState(3);
  const scale = SCALES[zoom] ?? 1;
  const nodes = new Map(layout.nodes.map((node) => [node.id, node]));
  const change = (step: number) => setZoom((value) => Math.max(0, Math.min(SCALES.length - 1, value + step)));
  useKeys("Graph", [
    { keys: ["+", "="], label: "Larger", run: () => change(1) },
    { keys: ["-"], label: "Smaller", run: () => change(-1) },
  ]);
  return (
    <div class="graph-view">
      <div class="toolbar">
        <div class="legend">{model.value.states.map(({ state }) => <StateBadge key={state} state={state} />)}</div>
        <span class="spacer" />
        <button type="button" class="button icon-only" onClick={() => change(-1)} aria-label="Smaller" title="Smaller  -"><Icon name="minus" /></button>
        <span class="dim num">{Math.round(scale * 100)} %</span>
        <button type="button" class="button icon-only" onClick={() => change(1)} aria-label="Larger" title="Larger  +"><Icon name="plus" /></button>
      </div>
      <div class="graph-scroll" tabIndex={0} role="region" aria-label="Graph of the plan">
        <svg class="graph" width={layout.width * scale} height={layout.height * scale} viewBox={`0 0 ${layout.width} ${layout.height}`}>
          <g aria-hidden="true">
            {layout.edges.map((edge) => <Edge key={`${edge.from}>${edge.to}`} edge={edge} height={layout.nodeHeight} from={nodes.get(edge.from)} to={nodes.get(edge.to)} />)}
          </g>
          {layout.nodes.map((node) => (node.kind === "clip" ? <ClipNode key={node.id} node={node} height={layout.nodeHeight} /> : <ChoiceNode key={node.id} node={node} height={layout.nodeHeight} />))}
        </svg>
      </div>
    </div>
  );
}

function Edge({ edge, height, from, to }: { edge: GraphEdge; height: number; from: GraphNode | undefined; to: GraphNode | undefined }) {
  if (from === undefined || to === undefined) return null;
  const x = from.x + (from.kind === "choice" ? CHOICE_WIDTH : NODE_WIDTH);
  const y = from.y + height / 2;
  const end = to.y + height / 2;
  const bend = Math.max(20, (to.x - x) / 2);
  return <path class={`edge edge-${edge.kind}${edge.faint ? " faint" : ""}`} d={`M${x} ${y}C${x + bend} ${y} ${to.x - bend} ${end} ${to.x} ${end}`} />;
}

function ClipNode({ node, height }: { node: GraphNode; height: number }) {
  const { clip, lines } = node;
  if (clip === null) return null;
  const length = clip.seconds === null ? [] : [`${clip.seconds.toFixed(1)} s`];
  const meta = [...(clip.state === "done" ? length : [STATE_TEXT[clip.state].label]), ...(clip.is_picked ? ["picked"] : [])].join(" · ");
  return (
    <a href={linkTo({ clip: clip.id })} class={`node state-${clip.state}${route.value.clip === clip.id ? " current" : ""}`}>
      <title>{`${clip.id}, ${STATE_TEXT[clip.state].label}`}</title>
      <rect x={node.x} y={node.y} width={NODE_WIDTH} height={height} rx={7} />
      <rect class="node-bar" x={node.x} y={node.y + 9} width={3} height={height - 18} rx={1.5} />
      {lines.map((line, index) => <text key={index} x={node.x + 14} y={node.y + 18 + LINE_HEIGHT * index}>{line}</text>)}
      <text class="node-meta" x={node.x + 14} y={node.y + 19 + LINE_HEIGHT * lines.length}>{meta}</text>
    </a>
  );
}

function ChoiceNode({ node, height }: { node: GraphNode; height: number }) {
  const middle = node.y + height / 2;
  const open = node.picked === null;
  const right = node.x + CHOICE_WIDTH;
  const label = open ? `choose 1 of ${node.takes}` : `picked ${node.picked?.replace(/^.*#/, "#") ?? ""}`;
  return (
    <g class={`choice-node${open ? " open" : ""}`} role="img" aria-label={open ? `Open pick: choose 1 of ${node.takes} takes` : `Pick: ${node.picked ?? ""}`}>
      <polygon points={`${node.x},${middle} ${node.x + 14},${middle - 16} ${right - 14},${middle - 16} ${right},${middle} ${right - 14},${middle + 16} ${node.x + 14},${middle + 16}`} />
      <text x={(node.x + right) / 2} y={middle + 4} text-anchor="middle">{label}</text>
    </g>
  );
}
