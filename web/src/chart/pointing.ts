/** What is drawn over a chart while it is pointed at: rings, emphasis, the rectangle of a zoom. */

import type { Line } from "../document";
import type { Found } from "./hit";
import type { Item } from "./items";
import type { Pair } from "./scales";
import { barBox, down, pathThrough, type Scene } from "./scene";
import { round, symbol } from "./symbols";

export interface Pointing {
  pointed: Found | null;
  /** Subject that is pointed at, here or in a table. */
  hovered: string | null;
  /** Corners of a rectangle. */
  outline: readonly [Pair, Pair] | null;
}

export function pointingItems(scene: Scene, { pointed, hovered, outline }: Pointing): Item[] {
  const items: Item[] = [];
  const rings = new Set<string>();
  const ring = (x: number, y: number, size: number): void => {
    const d = symbol("circle", round(size + 8));
    if (rings.has(`${x} ${y}`)) return;
    rings.add(`${x} ${y}`);
    items.push({ kind: "path", d, at: [round(x), round(y)], stroke: "ink", width: 1.6 });
  };
  if (pointed?.kind === "mark") ring(pointed.x, pointed.y, pointed.size);
  if (pointed?.kind === "line") items.push(emphasis(scene, pointed.thing));
  if (pointed?.kind === "bar") items.push(border(scene, pointed.thing));
  if (hovered) {
    for (const { mark, x, y, size } of scene.marks) if (mark.subject === hovered) ring(x, y, size);
    for (const bar of scene.shown.bars) if (bar.subject === hovered) items.push(border(scene, bar));
  }
  if (outline) items.push(rectangle(...outline));
  return items;
}

/** Returns a wide stroke under a line and under all others that are parts of the same. */
function emphasis(scene: Scene, { name, summary }: Line): Item {
  const parts = scene.shown.lines.filter((line) => line.name === name && line.summary === summary);
  const d = parts.map(({ places }) => pathThrough(places.map((place) => down(scene.plane, place))));
  return { kind: "path", d: d.join(""), stroke: "ink", width: 5, opacity: 0.25, isClipped: true };
}

function border(scene: Scene, bar: Parameters<typeof barBox>[0]): Item {
  const { x, y, width, height } = barBox(bar, scene.plane);
  const d = `M${round(x)},${round(y)}h${round(width)}v${round(height)}h${round(-width)}Z`;
  return { kind: "path", d, stroke: "ink", width: 2, isClipped: true };
}

function rectangle([x0, y0]: Pair, [x1, y1]: Pair): Item {
  const d = `M${round(x0)},${round(y0)}H${round(x1)}V${round(y1)}H${round(x0)}Z`;
  return { kind: "path", d, fill: "pale 0", opacity: 0.5, stroke: "0", width: 1, isClipped: true };
}
