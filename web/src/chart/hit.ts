/** What lies under a pointer. */

import { type Quadtree, quadtree } from "d3-quadtree";
import type { Bar, Line } from "../document";
import { clippedTo } from "./boxes";
import type { PlacedMark } from "./marks";
import { at, type Pair } from "./scales";
import { barBox, type Scene } from "./scene";

/** A thing of a chart that can be asked, with the place that its description points at. */
export type Found =
  | { kind: "mark"; thing: PlacedMark["mark"]; x: number; y: number; size: number }
  | { kind: "bar"; thing: Bar; x: number; y: number; size: number }
  | { kind: "line"; thing: Line; x: number; y: number; size: number };

const NEAR_MARK = 6;
const NEAR_LINE = 6;

/** Finds what lies at a place of a scene. */
export class Hits {
  readonly #scene: Scene;
  readonly #marks: Quadtree<PlacedMark>;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#marks = quadtree<PlacedMark>()
      .x(({ x }) => x)
      .y(({ y }) => y)
      .addAll(scene.marks.filter(({ mark }) => mark.name || mark.subject));
  }

  /** Returns what lies at a place in pixels from the upper left corner, nearest first. */
  at(x: number, y: number, slack = 0): Found | null {
    return this.#mark(x, y, slack) ?? this.#bar(x, y) ?? this.#line(x, y, slack);
  }

  #mark(x: number, y: number, slack: number): Found | null {
    const { marker } = this.#scene.sizes;
    const largest = Math.max(marker, ...this.#sizesNear(x, y));
    let best: PlacedMark | null = null;
    let least = Number.POSITIVE_INFINITY;
    // The nearest edge counts, so that a small mark on a large one can be reached.
    this.#visit(x, y, largest / 2 + NEAR_MARK + slack, (placed) => {
      const away = Math.hypot(placed.x - x, placed.y - y);
      if (away > placed.size / 2 + NEAR_MARK + slack) return;
      const weight = away / placed.size + (placed.isFaint ? 1 : 0);
      if (weight <= least) {
        best = placed;
        least = weight;
      }
    });
    return best ? foundMark(best) : null;
  }

  /** Returns the sizes of all marks that could reach a place. */
  #sizesNear(x: number, y: number): number[] {
    const sizes: number[] = [];
    this.#visit(x, y, this.#scene.sizes.marker * 4, ({ size }) => sizes.push(size));
    return sizes;
  }

  #visit(x: number, y: number, radius: number, each: (placed: PlacedMark) => void): void {
    this.#marks.visit((node, x0, y0, x1, y1) => {
      if (!("length" in node) || node.length === undefined) {
        let leaf: typeof node | undefined = node;
        while (leaf && "data" in leaf) {
          each(leaf.data);
          leaf = leaf.next;
        }
      }
      return x0 > x + radius || x1 < x - radius || y0 > y + radius || y1 < y - radius;
    });
  }

  #bar(x: number, y: number): Found | null {
    const { plane, shown } = this.#scene;
    for (const bar of shown.bars.toReversed()) {
      const box = barBox(bar, plane);
      if (x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height)
        return foundBar(bar, this.#scene);
    }
    return null;
  }

  #line(x: number, y: number, slack: number): Found | null {
    const { plane, shown } = this.#scene;
    if (x < 0 || y < 0 || x > plane.width || y > plane.height) return null;
    let best: Found | null = null;
    let least = NEAR_LINE + slack;
    for (const line of shown.lines) {
      if (!line.name) continue;
      const places = line.places.map((place) => at(plane, place));
      places.forEach((place, index) => {
        const nearest = nearestOn(places[index - 1] ?? place, place, [x, plane.height - y]);
        const away = Math.hypot(nearest[0] - x, nearest[1] - (plane.height - y));
        if (away < least) {
          least = away;
          best = {
            kind: "line",
            thing: line,
            x: nearest[0],
            y: plane.height - nearest[1],
            size: 0,
          };
        }
      });
    }
    return best;
  }
}

function nearestOn([x0, y0]: Pair, [x1, y1]: Pair, [x, y]: Pair): Pair {
  const square = (x1 - x0) ** 2 + (y1 - y0) ** 2;
  const share = square === 0 ? 0 : ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / square;
  const part = Math.min(Math.max(share, 0), 1);
  return [x0 + part * (x1 - x0), y0 + part * (y1 - y0)];
}

function foundMark({ mark, x, y, size }: PlacedMark): Found {
  return { kind: "mark", thing: mark, x, y, size };
}

function foundBar(bar: Bar, { plane }: Scene): Found {
  const { x, y, width, height } = barBox(bar, plane);
  return { kind: "bar", thing: bar, x: x + width / 2, y: y + height / 2, size: height };
}

/** Returns everything that can be asked, in the order in which the keyboard goes through it. */
export function stops(scene: Scene): Found[] {
  const named = scene.marks.filter(({ mark }) => mark.name || mark.subject);
  const marks = named.map(foundMark).toSorted((one, other) => one.x - other.x || one.y - other.y);
  const bars = scene.shown.bars.filter(({ name }) => name).map((bar) => foundBar(bar, scene));
  // A roof may be drawn in parts, of which the first stands for all.
  const seen = new Set<string>();
  const isNew = ({ name, summary }: Line): boolean => {
    const of = `${name} ${summary}`;
    return name !== "" && !seen.has(of) && !!seen.add(of);
  };
  const lines = scene.shown.lines.flatMap((line) => (isNew(line) ? foundLine(line, scene) : []));
  return [...marks, ...bars, ...lines];
}

/** Returns a line with the middle of its longest part that is seen. */
function foundLine(line: Line, { plane }: Scene): Found[] {
  const places = line.places.map((place) => at(plane, place));
  const parts = places.slice(1).flatMap((place, index) => {
    const part = clippedTo([places[index] ?? place, place], plane.width, plane.height);
    return part ? [part] : [];
  });
  const long = ([[x0, y0], [x1, y1]]: (typeof parts)[number]) => Math.hypot(x1 - x0, y1 - y0);
  const [longest] = parts.toSorted((one, other) => long(other) - long(one));
  if (!longest) return [];
  const [[x0, y0], [x1, y1]] = longest;
  return [
    { kind: "line", thing: line, x: (x0 + x1) / 2, y: plane.height - (y0 + y1) / 2, size: 0 },
  ];
}
