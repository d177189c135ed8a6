import { describe, expect, it } from "vitest";
import { buildModel } from "../../src/data/model";
import { layoutGraph } from "../../src/logic/graph-layout";
import { clip, film, page, shot, wall } from "../support/data";

describe("layoutGraph", () => {
  const graph = layoutGraph(buildModel(film()));
  const x = (id: string) => graph.nodes.find((node) => node.id === id)?.x ?? NaN;

  it("puts what depends on a clip to its right", () => {
    for (const edge of graph.edges) expect(x(edge.from)).toBeLessThan(x(edge.to));
  });
  it("shows an open pick as a choice between the takes, not as an edge from each", () => {
    const choice = graph.nodes.find((node) => node.id === "choice:gulls@");
    expect(choice).toMatchObject({ takes: 2, picked: null });
    expect(graph.edges.filter((edge) => edge.to === "epilogue")).toEqual([{ from: "choice:gulls@", to: "epilogue", kind: "pick", faint: true }]);
  });
  it("leads from a settled pick through its choice", () => {
    expect(graph.nodes.find((node) => node.id === "choice:lamp@")?.picked).toBe("lamp#1");
    expect(graph.edges.find((edge) => edge.to === "sunrise")?.from).toBe("choice:lamp@");
  });
  it("overlaps no nodes, also in a large sweep", () => {
    for (const each of [graph, layoutGraph(buildModel(wall(1_000)))]) {
      expect(new Set(each.nodes.map((node) => `${node.x} ${node.y}`)).size).toBe(each.nodes.length);
    }
  });
  it("ends on data with a cycle or a missing parent", () => {
    const data = page("p", [shot("a"), shot("b")], [
      clip("a", { parents: [{ clip: "b", kind: "needs" }, { clip: "gone", kind: "needs" }] }),
      clip("b", { parents: [{ clip: "a", kind: "needs" }] }),
    ]);
    expect(layoutGraph(buildModel(data)).nodes).toHaveLength(2);
  });
});
