/** Where labels go: plain geometry, so that no two of them lie on each other or on a point. */

import type { Pair } from "./scales";

export type Segment = readonly [Pair, Pair];

/** A rectangle turned around its centre, in pixels, y upwards; its angle in radians. */
export interface Box {
  centre: Pair;
  width: number;
  height: number;
  angle: number;
}

/** A label over more than this hides more than it says: two dashed lines and a thin one. */
export const MOST_CROSSED = 5;
const ASLANT = Math.sin(Math.PI / 12);
const EIGHT: readonly Pair[] = [
  [0, 1],
  [1, 0],
  [0, -1],
  [-1, 0],
  [1, 1],
  [1, -1],
  [-1, -1],
  [-1, 1],
];
/** Heights of a text that it may stand above or below its point, joined to it by a line. */
const FARTHEST = 8;

export function box(centre: Pair, width: number, height: number, angle = 0): Box {
  return { centre, width, height, angle };
}

/** Returns the four corners, counterclockwise from the lower left one. */
export function corners({ centre: [x, y], width, height, angle }: Box): Pair[] {
  const [cos, sin] = [Math.cos(angle) / 2, Math.sin(angle) / 2];
  const signs: readonly Pair[] = [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ];
  return signs.map(([a, b]) => [
    x + a * cos * width - b * sin * height,
    y + a * sin * width + b * cos * height,
  ]);
}

/** Returns how far a rectangle reaches from its centre, across and upwards. */
export function extent({ width, height, angle }: Box): Pair {
  const [x, y] = [Math.abs(Math.cos(angle)), Math.abs(Math.sin(angle))];
  return [(width * x + height * y) / 2, (width * y + height * x) / 2];
}

/** Returns whether two rectangles share any area. */
export function overlaps(one: Box, other: Box): boolean {
  const [mine, its] = [extent(one), extent(other)];
  if (Math.abs(one.centre[0] - other.centre[0]) >= mine[0] + its[0]) return false;
  if (Math.abs(one.centre[1] - other.centre[1]) >= mine[1] + its[1]) return false;
  if (one.angle === 0 && other.angle === 0) return true;
  const angles = [one.angle, one.angle + Math.PI / 2, other.angle, other.angle + Math.PI / 2];
  const [first, second] = [corners(one), corners(other)];
  return !angles.some((angle) => areApart(first, second, angle));
}

/** Returns whether a straight line touches a rectangle. */
export function meets(one: Box, segment: Segment): boolean {
  const [[x0, y0], [x1, y1]] = segment;
  const [across, up] = extent(one);
  const [x, y] = one.centre;
  // Most are far apart, which is seen at once.
  if (Math.max(x0, x1) < x - across || Math.min(x0, x1) > x + across) return false;
  if (Math.max(y0, y1) < y - up || Math.min(y0, y1) > y + up) return false;
  const angles = [one.angle, one.angle + Math.PI / 2, Math.atan2(y1 - y0, x1 - x0) + Math.PI / 2];
  const shape = corners(one);
  return !angles.some((angle) => areApart(shape, segment, angle));
}

/** Returns whether a gap separates two convex shapes in one direction. */
function areApart(first: readonly Pair[], second: readonly Pair[], angle: number): boolean {
  const [x, y] = [Math.cos(angle), Math.sin(angle)];
  const ends = first.map(([px, py]) => px * x + py * y);
  const others = second.map(([px, py]) => px * x + py * y);
  return Math.max(...ends) <= Math.min(...others) || Math.max(...others) <= Math.min(...ends);
}

/** The room that is left for labels on axes of a size. */
export class Room {
  readonly width: number;
  readonly height: number;
  /** Labels avoid them, the more the higher the cost, but may lie on them if they must. */
  readonly lines: { segment: Segment; cost: number }[] = [];
  /** Labels never lie on these. */
  readonly taken: Box[] = [];

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
  }

  /**
   * Takes the first candidate that crosses least, or returns null if there is no room. The line
   * that is being labelled may be crossed; one that runs beside it, and between it and the label,
   * would be taken for it, and counts as crossed.
   */
  place(
    candidates: Iterable<Box>,
    {
      own = null,
      most = MOST_CROSSED,
    }: {
      own?: Segment | null;
      most?: number;
    } = {},
  ): Box | null {
    let best: Box | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const candidate of candidates) {
      if (!this.holds(candidate) || this.taken.some((other) => overlaps(candidate, other)))
        continue;
      const crossed = this.crossedBy(candidate, own, Math.min(most, least));
      if (crossed <= most && crossed < least) {
        best = candidate;
        least = crossed;
      }
      if (crossed === 0) break;
    }
    if (best) this.taken.push(best);
    return best;
  }

  private holds(one: Box): boolean {
    const [x, y] = one.centre;
    const [across, up] = extent(one);
    return x >= across && x <= this.width - across && y >= up && y <= this.height - up;
  }

  /** Returns what the lines cost that a label would lie on, or a number that is too much. */
  private crossedBy(one: Box, own: Segment | null, most: number): number {
    let crossed = 0;
    for (const { segment, cost } of this.lines) {
      if (segment !== own && (meets(one, segment) || parts(segment, one, own))) crossed += cost;
      if (crossed > most) break;
    }
    return crossed;
  }
}

/** Returns whether a line runs between a label and its own line, in nearly their direction. */
function parts(line: Segment, label: Box, own: Segment | null): boolean {
  if (!own) return false;
  const [one, other] = [line, own].map(([[x0, y0], [x1, y1]]) => Math.atan2(y1 - y0, x1 - x0));
  if (Math.abs(Math.sin((one ?? 0) - (other ?? 0))) > ASLANT) return false;
  const [x0, y0] = own[0];
  const [x, y] = label.centre;
  const [cos, sin] = [Math.cos(label.angle), Math.sin(label.angle)];
  const up = (y - y0) * cos - (x - x0) * sin;
  const middle: Pair = [x + (up / 2) * sin, y - (up / 2) * cos];
  return meets(box(middle, label.width, Math.abs(up), label.angle), line);
}

export interface Along {
  width: number;
  height: number;
  /** Distances of the middle of a text above the line, the preferred one first. */
  offsets: readonly number[];
  /** Which end is preferred. */
  fromRight: boolean;
}

/** Returns places for a text on a line from left to right, turned with it. */
export function along([[x0, y0], [x1, y1]]: Segment, text: Along): Box[] {
  const { width, height, offsets, fromRight } = text;
  const [angle, length] = [Math.atan2(y1 - y0, x1 - x0), Math.hypot(x1 - x0, y1 - y0)];
  const placed = (far: number, offset: number): Box => {
    const x = x0 + far * Math.cos(angle) - offset * Math.sin(angle);
    const y = y0 + far * Math.sin(angle) + offset * Math.cos(angle);
    return box([x, y], width, height, angle);
  };
  if (length <= width) return [placed(length - width / 2, offsets[0] ?? 0)];
  const steps = Math.max(Math.floor(((length - width) / height) * 3), 1);
  const places = Array.from(
    { length: steps + 1 },
    (_, step) => width / 2 + ((length - width) * step) / steps,
  );
  if (fromRight) places.reverse();
  return offsets.flatMap((offset) => places.map((far) => placed(far, offset)));
}

/** Returns middles of texts of a size around a point with a marker, the nearest first. */
export function around([x, y]: Pair, width: number, height: number, marker: number): Pair[] {
  return [1, 1.6, 2.4].flatMap((far) => {
    const gap = marker * 0.75 * far;
    return EIGHT.map(([right, up]): Pair => {
      const diagonal = right && up ? Math.SQRT1_2 : 1;
      return [x + right * (width / 2 + gap * diagonal), y + up * (height / 2 + gap * diagonal)];
    });
  });
}

/** Returns middles of texts farther from a point, to which a line may join them. */
export function farFrom([x, y]: Pair, width: number, height: number, marker: number): Pair[] {
  const found: Pair[] = [];
  const sides: readonly Pair[] = [
    [1, -1],
    [1, 1],
    [-1, -1],
    [-1, 1],
    [0, -1],
    [0, 1],
  ];
  for (const reach of [1.5, 4, 8]) {
    const beside = marker / 2 + 2 + width / 2 + reach * height;
    for (let step = 0; step <= FARTHEST; step++)
      for (const [right, up] of sides)
        if (step || right)
          found.push([x + right * beside, y + up * (marker / 2 + 2 + step * height)]);
  }
  return found;
}

/** Returns the shortest line from a point to a text that is not turned. */
export function lead(point: Pair, { centre: [x, y], width, height }: Box): Segment {
  const end: Pair = [
    Math.min(Math.max(point[0], x - width / 2), x + width / 2),
    Math.min(Math.max(point[1], y - height / 2), y + height / 2),
  ];
  return [point, end];
}

/** Returns places in the rectangle around a polygon, those nearest to its middle first. */
export function gridIn(polygon: readonly Pair[]): Pair[] {
  const [xs, ys] = [polygon.map(([x]) => x), polygon.map(([, y]) => y)];
  const middle = (values: number[]) => values.reduce((sum, v) => sum + v, 0) / values.length;
  const [mx, my] = [middle(xs), middle(ys)];
  const [left, bottom] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - left, Math.max(...ys) - bottom];
  const places: Pair[] = [];
  for (let i = 1; i < 16; i++)
    for (let j = 1; j < 24; j++) places.push([left + (width * i) / 16, bottom + (height * j) / 24]);
  const far = ([x, y]: Pair) => Math.hypot(x - mx, y - my);
  return places.sort((one, other) => far(one) - far(other));
}

/** Returns whether a convex polygon, counterclockwise, holds a place. */
export function holds(polygon: readonly Pair[], [x, y]: Pair): boolean {
  return polygon.every(([x0, y0], index) => {
    const [x1, y1] = polygon[(index + 1) % polygon.length] as Pair;
    return (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) >= 0;
  });
}

/** Returns whether two straight lines cross. */
export function crosses(first: Segment, second: Segment): boolean {
  const [[x0, y0], [x1, y1]] = first;
  const middle: Pair = [(x0 + x1) / 2, (y0 + y1) / 2];
  const length = Math.hypot(x1 - x0, y1 - y0);
  return meets(box(middle, length, 0.01, Math.atan2(y1 - y0, x1 - x0)), second);
}

/** Returns the part of a segment within axes of a size; null: there is none. */
export function clippedTo(
  [[x0, y0], [x1, y1]]: Segment,
  width: number,
  height: number,
): Segment | null {
  let [enter, leave] = [0, 1];
  for (const [begin, step, size] of [
    [x0, x1 - x0, width],
    [y0, y1 - y0, height],
  ] as const) {
    if (step === 0) {
      if (begin < 0 || begin > size) return null;
      continue;
    }
    const ends = [-begin / step, (size - begin) / step] as const;
    enter = Math.max(enter, Math.min(...ends));
    leave = Math.min(leave, Math.max(...ends));
  }
  if (enter >= leave) return null;
  const part = (t: number): Pair => [x0 + t * (x1 - x0), y0 + t * (y1 - y0)];
  return [part(enter), part(leave)];
}
