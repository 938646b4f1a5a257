/** Roofs and marks on their way from one choice to another, such as a number of cores. */

import type { Line, Mark, Place, Tagged } from "../document";
import type { Shown } from "./filter";

/** Returns what is drawn at a part of the way, from 0 to 1; null: nothing moves. */
export type Way = (part: number) => { lines: readonly Line[]; marks: readonly Mark[] };

/** Returns the way from what was shown to what is shown now; null: nothing moves. */
export function wayBetween(
  before: Shown,
  after: Shown,
  isLog: { x: boolean; y: boolean },
): Way | null {
  const lines = pairs(before.lines, after.lines, (line) => `${line.kind} ${line.places.length}`);
  const marks = pairs(before.marks, after.marks, (mark) => `${mark.shape} ${mark.edge}`);
  if (lines.size === 0 && marks.size === 0) return null;
  const mixed = ([x0, y0]: Place, [x1, y1]: Place, part: number): Place => [
    mix(x0, x1, part, isLog.x),
    mix(y0, y1, part, isLog.y),
  ];
  return (part) => ({
    lines: after.lines.map((line) => {
      const from = lines.get(line);
      if (!from) return line;
      const places = line.places.map((to, index) => mixed(from.places[index] ?? to, to, part));
      const ends = (to: readonly number[], of: readonly number[]): number[] =>
        to.map((end, index) => mix(of[index] ?? end, end, part, isLog.y));
      const [low, high] = [ends(line.low, from.low), ends(line.high, from.high)];
      return { ...line, places, low, high, label: null };
    }),
    marks: after.marks.map((mark) => {
      const from = marks.get(mark);
      if (!from) return mark;
      return {
        ...mark,
        at: mixed(from.at, mark.at, part),
        x_interval: null,
        y_interval: null,
        label: null,
      };
    }),
  });
}

/** Returns a value between two, on a logarithmic axis by their ratio. */
function mix(from: number, to: number, part: number, isLog: boolean): number {
  if (isLog && from > 0 && to > 0) return from * (to / from) ** part;
  return from + part * (to - from);
}

/** Pairs what came with what went where both are the same but for one tag, in their order. */
function pairs<T extends Tagged>(
  before: readonly T[],
  after: readonly T[],
  looks: (thing: T) => string,
): Map<T, T> {
  const [old, now] = [new Set(before), new Set(after)];
  const alike = (thing: T): string => `${looks(thing)} ${thing.subject ?? ""}`;
  const gone = new Map<string, T[]>();
  for (const thing of before)
    if (!now.has(thing)) gone.set(alike(thing), [...(gone.get(alike(thing)) ?? []), thing]);
  const found = new Map<T, T>();
  for (const thing of after) {
    if (old.has(thing)) continue;
    const others = gone.get(alike(thing)) ?? [];
    const index = others.findIndex((other) => differing(other, thing) === 1);
    const [from] = index < 0 ? [] : others.splice(index, 1);
    if (from) found.set(thing, from);
  }
  return found;
}

/** Returns how many tags two things have not in common. */
function differing(one: Tagged, other: Tagged): number {
  const names = new Set([...Object.keys(one.tags ?? {}), ...Object.keys(other.tags ?? {})]);
  return [...names].filter((name) => one.tags?.[name] !== other.tags?.[name]).length;
}
