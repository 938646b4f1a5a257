/** Marks and their intervals as paths. */

import type { Edge, Mark, Place } from "../document";
import type { PathItem } from "./items";
import { paintOf, pale, type Sizes } from "./look";
import { at, isWithin, type Pair, type Plane, shareOf } from "./scales";
import { arrow, round, symbol } from "./symbols";

/** Marks larger than this have a pale rim, since they may lie on each other. */
const LARGE = 1.5;
/** Strength of what is not selected. */
export const FAINT = 0.15;
export const INTERVAL_WIDTH = 1.2;

/** A mark with its place on the drawn axes. */
export interface PlacedMark {
  mark: Mark;
  /** At which it is drawn as an arrow; null: it is drawn where it lies. */
  edge: Edge | null;
  /** Pixels from the upper left corner. */
  x: number;
  y: number;
  /** Diameter. */
  size: number;
  isFaint: boolean;
}

/** Returns where marks are that lie within the frame; those at an edge stay there. */
export function placedMarks(
  plane: Plane,
  marks: readonly Mark[],
  sizes: Sizes,
  how: { bySize: boolean; isFaint(mark: Mark): boolean },
): { inside: PlacedMark[]; outside: Mark[] } {
  const inside: PlacedMark[] = [];
  const outside: Mark[] = [];
  for (const mark of marks) {
    const size = sizes.marker * (how.bySize || mark.size < 1 ? mark.size : 1);
    const seen = seenAt(plane, mark);
    if (seen) {
      const [x, y] = seen.place;
      const isFaint = how.isFaint(mark);
      inside.push({ mark, edge: seen.edge, x, y: plane.height - y, size, isFaint });
    }
    if (!seen || (seen.edge !== null && mark.beyond)) outside.push(mark);
  }
  return { inside, outside };
}

/**
 * Returns where a mark is drawn, y upwards: where it lies, or at its edge as long as that is not
 * seen; null: outside of the frame.
 */
export function seenAt(plane: Plane, mark: Mark): { place: Pair; edge: Edge | null } | null {
  const place = at(plane, placeOf(mark));
  const hasPlace = mark.edge === null || !!mark.beyond;
  if (hasPlace && isWithin(plane, place)) return { place, edge: null };
  const pinned = pinnedTo(plane, mark);
  return mark.edge !== null && isWithin(plane, pinned) ? { place: pinned, edge: mark.edge } : null;
}

/** Returns where a mark lies, though it may be drawn at an edge. */
export function placeOf({ at, beyond }: Mark): Place {
  return beyond ?? at;
}

/** Returns the place of a mark, y upwards: at its edge for one that lies beyond it. */
function pinnedTo(plane: Plane, mark: Mark): Pair {
  const [x, y] = at(plane, mark.at);
  switch (mark.edge) {
    case "left":
      return [0, y];
    case "right":
      return [plane.width, y];
    case "top":
      return [x, plane.height];
    case "bottom":
      return [x, 0];
    case null:
      return [x, y];
  }
}

/** Returns what is drawn of a mark. */
export function markItems(placed: PlacedMark, plane: Plane, sizes: Sizes): PathItem[] {
  const opacity = placed.isFaint ? FAINT : 1;
  const items: PathItem[] = [];
  let d = "";
  forIntervals(placed, plane, sizes, (x0, y0, x1, y1) => {
    d += `M${round(x0)},${round(y0)}${x0 === x1 ? `V${round(y1)}` : `H${round(x1)}`}`;
  });
  const stroke = paintOf(placed.mark.ink);
  if (d) items.push({ kind: "path", d, stroke, width: INTERVAL_WIDTH, opacity, isClipped: true });
  const shape = shapeItem(placed);
  if (shape.d) items.push({ ...shape, at: [round(placed.x), round(placed.y)], opacity });
  return items;
}

/** Returns the shape of a mark around the origin; its path is empty for none. */
export function shapeItem({ mark, edge, size }: PlacedMark): PathItem {
  const d = edge === null ? symbol(mark.shape, size) : arrow(edge, size * 1.2);
  return { kind: "path", d, ...faceOf(mark) };
}

/** Returns how a mark's shape is painted. */
function faceOf(mark: Mark): Partial<PathItem> {
  const ink = paintOf(mark.ink);
  if (mark.shape === "cap" && mark.edge === null) return { stroke: ink, width: 2.2 };
  const rim = mark.face === "full" && mark.size > LARGE ? "paper" : ink;
  const stroke = mark.is_alarming ? "alarm" : rim;
  return { ...filling(mark.face, ink), stroke, width: mark.is_alarming ? 2.2 : 1.2 };
}

/** Returns how shapes and bars of a face are filled. */
export function filling(face: Mark["face"], ink: string): Partial<PathItem> {
  switch (face) {
    case "full":
      return { fill: ink };
    case "hollow":
      return { fill: "paper" };
    case "pale":
      return { fill: pale(ink) };
    case "hatched":
      return { fill: pale(ink), hatch: ink };
  }
}

/** Draws a line along one of the axes. */
type DrawLine = (x0: number, y0: number, x1: number, y1: number) => void;

/** Draws the intervals of a mark as bars with caps along both axes. */
export function forIntervals(
  { mark, x, y, size }: PlacedMark,
  { chart, window, width, height }: Plane,
  sizes: Sizes,
  line: DrawLine,
): void {
  const cap = Math.min(size, sizes.marker) * 0.35;
  if (mark.x_interval) {
    const [from, to] = mark.x_interval.map((end) => shareOf(chart.x, end, window.x) * width);
    if (from !== undefined && to !== undefined) {
      line(from, y, to, y);
      line(from, y - cap, from, y + cap);
      line(to, y - cap, to, y + cap);
    }
  }
  if (mark.y_interval) {
    const [low, high] = mark.y_interval.map(
      (end) => height - shareOf(chart.y, end, window.y) * height,
    );
    if (low !== undefined && high !== undefined) {
      line(x, low, x, high);
      line(x - cap, low, x + cap, low);
      line(x - cap, high, x + cap, high);
    }
  }
}

/** Returns whether a mark stands for something measured or given, not for a ridge point or a cap. */
export function isData({ subject, size, shape, name }: Mark): boolean {
  if (shape === "cap") return false;
  return !!subject || (subject === undefined && !!name && size > 0.6);
}
