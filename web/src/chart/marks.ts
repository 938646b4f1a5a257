/** Marks and their intervals as paths. */

import type { Edge, Mark, Place } from "../document";
import type { Item, PathItem } from "./items";
import { paintOf, pale, type Sizes } from "./look";
import { at, type Pair, type Plane } from "./scales";
import { arrow, round, symbol } from "./symbols";

/** Marks larger than this have a pale rim, since they may lie on each other. */
const LARGE = 1.5;
/** Strength of what is not selected. */
export const FAINT = 0.15;

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

function isWithin({ width, height }: Plane, [x, y]: Pair): boolean {
  return x >= -0.5 && y >= -0.5 && x <= width + 0.5 && y <= height + 0.5;
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
  const { mark, edge, x, y, size } = placed;
  const items: PathItem[] = [];
  const ink = paintOf(mark.ink);
  const opacity = placed.isFaint ? FAINT : 1;
  const intervals = intervalPath(placed, plane, Math.min(size, sizes.marker) * 0.35);
  if (intervals)
    items.push({ kind: "path", d: intervals, stroke: ink, width: 1.2, opacity, isClipped: true });
  const d = edge === null ? symbol(mark.shape, size) : arrow(edge, size * 1.2);
  if (d) items.push({ kind: "path", d, at: [round(x), round(y)], opacity, ...faceOf(mark) });
  return items;
}

/** Returns how a mark's shape is painted. */
export function faceOf(mark: Mark): Partial<PathItem> {
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

/** Returns bars with caps along both axes; empty without intervals. */
function intervalPath({ mark, x, y }: PlacedMark, plane: Plane, cap: number): string {
  let d = "";
  if (mark.x_interval) {
    const [from, to] = mark.x_interval.map((end) => at(plane, [end, mark.at[1]])[0]);
    if (from !== undefined && to !== undefined)
      d += `M${round(from)},${round(y)}H${round(to)}${upright(from, y, cap)}${upright(to, y, cap)}`;
  }
  if (mark.y_interval) {
    const [low, high] = mark.y_interval.map(
      (end) => plane.height - at(plane, [mark.at[0], end])[1],
    );
    if (low !== undefined && high !== undefined)
      d += `M${round(x)},${round(low)}V${round(high)}${level(x, low, cap)}${level(x, high, cap)}`;
  }
  return d;
}

function upright(x: number, y: number, cap: number): string {
  return `M${round(x)},${round(y - cap)}V${round(y + cap)}`;
}

function level(x: number, y: number, cap: number): string {
  return `M${round(x - cap)},${round(y)}H${round(x + cap)}`;
}

/** Returns whether a mark stands for something measured or given, not for a ridge point or a cap. */
export function isData({ subject, size, shape, name }: Mark): boolean {
  if (shape === "cap") return false;
  return !!subject || (subject === undefined && !!name && size > 0.6);
}

/** Returns items with all intervals of one look as one path: many are painted at once so. */
export function batched(items: readonly Item[]): Item[] {
  const batches = new Map<string, PathItem>();
  const rest: Item[] = [];
  for (const item of items) {
    if (item.kind === "text" || item.at || !item.stroke) {
      rest.push(item);
      continue;
    }
    const look = `${item.stroke} ${item.opacity}`;
    const batch = batches.get(look);
    if (batch) batch.d += item.d;
    else batches.set(look, { ...item });
  }
  return [...batches.values(), ...rest];
}
