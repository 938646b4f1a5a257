/** Ticks: those that Python wrote while the whole axis is seen, and more in their way beyond. */

import { scaleLinear } from "d3-scale";
import type { Axis, Interval } from "../document";

export type Ticks = readonly (readonly [number, string])[];

type Format = (value: number, digits: number) => string;

const SI = [
  "q",
  "r",
  "y",
  "z",
  "a",
  "f",
  "p",
  "n",
  "µ",
  "m",
  "",
  "k",
  "M",
  "G",
  "T",
  "P",
  "E",
  "Z",
  "Y",
  "R",
  "Q",
];
const SI_ZERO = SI.indexOf("");
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const HAIR = 1e-6;
const ENOUGH = 3;

/** Returns the ticks of an axis of which a part is seen. */
export function ticksIn(axis: Axis, limits: Interval, most: number): Ticks {
  const isWhole = axis.limits[0] === limits[0] && axis.limits[1] === limits[1];
  const own = axis.ticks.filter(([value]) => isWithin(value, limits));
  if (isWhole || axis.scale === "rows") return thinned(own, axis, most);
  const format = formatOf(axis);
  if (format === null || (own.length >= ENOUGH && axis.scale === "log"))
    return thinned(own, axis, most);
  const values = valuesIn(axis, limits, most);
  const step = Math.min(...values.slice(1).map((value, index) => value - (values[index] ?? 0)));
  const largest = Math.max(...values.map(Math.abs));
  const digits = Math.max(Math.ceil(Math.log10(largest / step) - HAIR) + 1, 3);
  return values.map((value) => [value, format(value, Math.min(digits, 12))]);
}

/** Returns every second, third, ... of too many ticks; rows keep theirs. */
function thinned(ticks: Ticks, axis: Axis, most: number): Ticks {
  if (ticks.length <= most || axis.scale === "rows") return ticks;
  const step = Math.ceil((ticks.length - 1) / Math.max(most - 1, 1));
  return ticks.filter((_, index) => index % step === 0);
}

function isWithin(value: number, [low, high]: Interval): boolean {
  const room = HAIR * Math.abs(high - low);
  return value >= Math.min(low * (1 + HAIR), low - room, low * (1 - HAIR)) && value <= high + room;
}

/** Returns at most as many round values as there is room for. */
function linearValues(limits: Interval, most: number): number[] {
  const scale = scaleLinear().domain(limits);
  for (let count = most; count > 1; count--) {
    // What is asked for is a hint, and more may come.
    const values = scale.ticks(count);
    if (values.length <= most) return values;
  }
  return scale.ticks(1);
}

function valuesIn(axis: Axis, limits: Interval, most: number): number[] {
  const linear = linearValues(limits, most);
  if (axis.scale !== "log") return linear;
  const [low, high] = limits;
  if (high / low < 5) return linear.filter((value) => value > 0);
  const powers = Array.from(
    { length: Math.ceil(Math.log10(high / low)) + 2 },
    (_, index) => 10 ** (Math.floor(Math.log10(low)) + index),
  );
  const isSeen = (value: number): boolean => value >= low && value <= high;
  const steps = powers.flatMap((power) => [power, 2 * power, 5 * power]).filter(isSeen);
  if (steps.length <= most) return steps;
  const decades = powers.filter(isSeen);
  const step = Math.ceil(decades.length / most);
  return decades.filter((_, index) => index % step === 0);
}

interface Read {
  value: number;
  number: number;
  gap: string;
  suffix: string;
}

/**
 * Returns how Python wrote the ticks of an axis: numbers with a fixed unit, or with prefixes of the
 * SI or of powers of 1024. Null: in another way, such as names.
 */
export function formatOf(axis: Axis): Format | null {
  const read = axis.ticks.map(([value, text]) => readTick(value, text));
  if (read.length === 0 || read.some((tick) => tick === null)) return null;
  const known = (read as Read[]).filter(({ value }) => value !== 0);
  const [first] = known;
  if (!first) return null;
  const gap = known.find((tick) => tick.suffix)?.gap ?? "";
  const factor = first.number / first.value;
  const isFixed = known.every(
    ({ value, number, suffix }) => suffix === first.suffix && isClose(number / value, factor),
  );
  if (isFixed && (factor !== 1 || first.suffix === ""))
    return (value, digits) => plain(value * factor, digits) + gap + first.suffix;
  for (const [prefixes, base, zero] of [
    [SI, 1000, SI_ZERO],
    [BINARY, 1024, 0],
  ] as const) {
    const unit = unitOf(known, prefixes, base, zero);
    if (unit !== null)
      return (value, digits) => prefixed(value, digits, { prefixes, base, zero, unit, gap });
  }
  return null;
}

function readTick(value: number, text: string): Read | null {
  const found = /^([-−]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(\s*)(.*)$/u.exec(text);
  if (!found) return null;
  const [, number = "", gap = "", suffix = ""] = found;
  return { value, number: Number(number.replace("−", "-")), gap, suffix };
}

/** Returns the unit that every tick has after a prefix that makes its number its value. */
function unitOf(
  ticks: readonly Read[],
  prefixes: readonly string[],
  base: number,
  zero: number,
): string | null {
  const units = ticks.map(({ value, number, suffix }) => {
    const index = prefixes.findIndex(
      (prefix, at) => suffix.startsWith(prefix) && isClose(number * base ** (at - zero), value),
    );
    return index < 0 ? null : suffix.slice(prefixes[index]?.length);
  });
  const [unit] = units;
  return unit !== undefined && units.every((other) => other === unit) ? unit : null;
}

function isClose(one: number, other: number): boolean {
  return Math.abs(one - other) <= 1e-3 * Math.abs(other);
}

function plain(value: number, digits: number): string {
  const text = String(Number(value.toPrecision(digits)));
  return text.replace("e-0", "e-");
}

interface Prefixed {
  prefixes: readonly string[];
  base: number;
  zero: number;
  unit: string;
  gap: string;
}

function prefixed(value: number, digits: number, how: Prefixed): string {
  const power = value === 0 ? 0 : Math.floor(Math.log(Math.abs(value)) / Math.log(how.base) + HAIR);
  const index = Math.min(Math.max(power + how.zero, 0), how.prefixes.length - 1);
  const suffix = `${how.prefixes[index]}${how.unit}`;
  return (
    plain(value / how.base ** (index - how.zero), digits) + (suffix && (how.gap || " ") + suffix)
  );
}
