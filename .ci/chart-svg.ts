/** Lays a chart out with ELK and draws it as an SVG whose states carry `data-id`, so that the live page can colour them. */
import elkModule from "elkjs/lib/elk.bundled.js";
import type { ElkEdgeSection, ElkExtendedEdge, ElkNode } from "elkjs/lib/elk-api.js";
import { factsOf, labelOf } from "./chart-model.ts";
import type { ChartNode } from "./chart-model.ts";

const Elk = elkModule as unknown as new () => { layout(graph: ElkNode): Promise<ElkNode> };
const LINE = 16;
const widthOf = (text: string): number => Math.ceil(text.length * 6.7) + 16;
const escape = (text: string): string => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
const round = (value: number): string => value.toFixed(1);

/** Whether an edge leaves its composite. ELK cannot keep the model's order in such a graph, nor lay its composites out one by one. */
const crosses = (node: ChartNode): boolean =>
  node.states.some(
    (child) =>
      crosses(child) ||
      child.transitions.some(({ target }) => target !== undefined && !node.states.some((state) => state.id === target)),
  );

const ORDERED = {
  "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
  "elk.layered.cycleBreaking.strategy": "MODEL_ORDER",
};

const toElk = (node: ChartNode, ordered: boolean): ElkNode => {
  const facts = factsOf(node);
  const height = 26 + facts.length * LINE;
  const width = Math.max(70, widthOf(node.key) + 10, ...facts.map(widthOf));
  if (node.states.length === 0) return { id: node.id, width, height: Math.max(34, height) };
  const children = node.states.map((child) => toElk(child, ordered));
  const edges: ElkExtendedEdge[] = node.states.flatMap((child) =>
    child.transitions.flatMap((transition, index) => {
      if (transition.target === undefined) return [];
      const text = labelOf(transition);
      return [
        {
          id: `${child.id}#${index}`,
          sources: [child.id],
          targets: [transition.target],
          labels: [{ text, width: widthOf(text), height: LINE }],
        },
      ];
    }),
  );
  if (node.initial !== undefined) {
    children.unshift({ id: `${node.id}.@initial`, width: 12, height: 12 });
    edges.unshift({ id: `${node.id}@initial`, sources: [`${node.id}.@initial`], targets: [node.initial] });
  }
  return {
    id: node.id,
    children,
    edges,
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": node.type === "parallel" ? "RIGHT" : "DOWN",
      "elk.padding": `[top=${height + 8},left=14,bottom=14,right=14]`,
      "elk.nodeSize.constraints": "MINIMUM_SIZE",
      "elk.nodeSize.minimum": `(${width}, 60)`,
      "elk.spacing.nodeNode": "30",
      "elk.layered.spacing.nodeNodeBetweenLayers": "36",
      "elk.spacing.edgeLabel": "4",
      ...(ordered && ORDERED),
    },
  };
};

/** Byte-identical for equal charts, on any machine. */
export async function toSvg(root: ChartNode): Promise<string> {
  const nodes = new Map<string, ChartNode>();
  const index = (node: ChartNode): void => {
    nodes.set(node.id, node);
    node.states.forEach(index);
  };
  index(root);
  const ordered = !crosses(root);
  const layout = await new Elk().layout({
    id: "@page",
    children: [toElk(root, ordered)],
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.hierarchyHandling": ordered ? "SEPARATE_CHILDREN" : "INCLUDE_CHILDREN",
      "elk.randomSeed": "1",
      // Where composites are laid out together this one direction holds for all: downwards they fit a page, regions go side by side.
      ...(!ordered && root.type !== "parallel" && { "elk.direction": "DOWN" }),
    },
  });
  const boxes: string[] = [];
  const lines: string[] = [];
  const origins = new Map<string, readonly [number, number]>([["@page", [0, 0]]]);

  const path = ({ startPoint, bendPoints, endPoint }: ElkEdgeSection, x: number, y: number): string =>
    [startPoint, ...(bendPoints ?? []), endPoint]
      .map((point, position) => `${position === 0 ? "M" : "L"}${round(point.x + x)} ${round(point.y + y)}`)
      .join("");

  const draw = (box: ElkNode, left: number, top: number): void => {
    const x = left + (box.x ?? 0);
    const y = top + (box.y ?? 0);
    origins.set(box.id, [x, y]);
    const node = nodes.get(box.id);
    if (node === undefined) {
      boxes.push(`<circle cx="${round(x + 6)}" cy="${round(y + 6)}" r="6"/>`);
      return;
    }
    const facts = factsOf(node)
      .map(
        (fact, line) =>
          `<text x="${round(x + 10)}" y="${round(y + 34 + line * LINE)}" class="f">${escape(fact)}</text>`,
      )
      .join("");
    boxes.push(
      `<g class="state ${node.type}" data-id="${escape(node.id)}"><rect x="${round(x)}" y="${round(y)}" ` +
        `width="${round(box.width ?? 0)}" height="${round(box.height ?? 0)}" rx="8"/>` +
        `<text x="${round(x + 10)}" y="${round(y + 18)}" class="k">${escape(node.key)}</text>${facts}</g>`,
    );
    for (const child of box.children ?? []) draw(child, x, y);
  };
  const drawEdges = (box: ElkNode): void => {
    for (const edge of box.edges ?? []) {
      const container = (edge as { container?: string }).container ?? box.id;
      const [x, y] = origins.get(container) ?? [0, 0];
      for (const section of edge.sections ?? []) {
        lines.push(`<path d="${path(section, x, y)}" class="e" data-edge="${escape(edge.id)}" marker-end="url(#a)"/>`);
      }
      for (const label of edge.labels ?? []) {
        lines.push(
          `<text x="${round(x + (label.x ?? 0))}" y="${round(y + (label.y ?? 0) + 12)}" class="l">${escape(label.text ?? "")}</text>`,
        );
      }
    }
    for (const child of box.children ?? []) drawEdges(child);
  };
  for (const child of layout.children ?? []) draw(child, 0, 0);
  drawEdges(layout);

  const width = Math.ceil(layout.width ?? 0);
  const height = Math.ceil(layout.height ?? 0);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    '<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">' +
      '<path d="M0 0L8 4L0 8z"/></marker></defs>',
    "<style>rect{fill:#fff;stroke:#334155}text{font:12px ui-sans-serif,system-ui,sans-serif}.k{font-weight:600}" +
      ".f,.l{fill:#475569}.e{fill:none;stroke:#475569}.on>rect{fill:#dbeafe;stroke:#1d4ed8;stroke-width:2}</style>",
    ...boxes,
    ...lines,
    "</svg>",
    "",
  ].join("\n");
}
