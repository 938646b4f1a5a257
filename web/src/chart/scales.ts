/** Where values are between the limits of an axis, and which limits a zoom leads to. */

import type { Axis, Chart, Interval, Place } from "../document";

/** The part of the plane that is seen. */
export interface Window {
  x: Interval;
  y: Interval;
}

/** Pixels from the lower left corner of the axes. */
export type Pair = readonly [number, number];

/** Axes of a known size on which a part of a chart's plane is seen. */
export interface Plane {
  chart: Chart;
  window: Window;
  width: number;
  height: number;
}

/** What has no logarithm is far off. */
const FAR_OFF = -20;
/** Parts of the first limits to which a zoom leads at most, and times them. */
const LEAST_SPAN = 1e-4;
const MOST_SPAN = 4;

function bent(axis: Axis, value: number): number {
  return axis.scale === "log" ? Math.log10(value) : value;
}

function unbent(axis: Axis, value: number): number {
  return axis.scale === "log" ? 10 ** value : value;
}

/** Returns where a value is between limits: 0 at the lower, 1 at the upper one. */
export function shareOf(axis: Axis, value: number, [low, high]: Interval): number {
  if (axis.scale === "log" && !(value > 0)) return FAR_OFF;
  return (bent(axis, value) - bent(axis, low)) / (bent(axis, high) - bent(axis, low));
}

/** Returns the value at a share of the way between limits. */
export function valueAt(axis: Axis, share: number, [low, high]: Interval): number {
  const [from, to] = [bent(axis, low), bent(axis, high)];
  return unbent(axis, from + share * (to - from));
}

/** Returns the limits between two shares of others. */
export function between(axis: Axis, from: number, to: number, limits: Interval): Interval {
  // Exact where nothing changes, so that a reset is one.
  const low = from === 0 ? limits[0] : valueAt(axis, from, limits);
  const high = to === 1 ? limits[1] : valueAt(axis, to, limits);
  return [low, high];
}

/** Returns limits closer by a factor, with the value at a share staying where it is. */
export function zoomed(axis: Axis, limits: Interval, factor: number, at: number): Interval {
  const bounded = boundedFactor(axis, limits, factor);
  return between(axis, at - at / bounded, at + (1 - at) / bounded, limits);
}

function boundedFactor(axis: Axis, [low, high]: Interval, factor: number): number {
  const whole = bent(axis, axis.limits[1]) - bent(axis, axis.limits[0]);
  const span = (bent(axis, high) - bent(axis, low)) / whole;
  return Math.max(Math.min(factor, span / LEAST_SPAN), span / MOST_SPAN);
}

/** Returns limits moved by a share of themselves; some of the first limits always stays. */
export function panned(axis: Axis, limits: Interval, by: number): Interval {
  const low = shareOf(axis, axis.limits[0], limits);
  const high = shareOf(axis, axis.limits[1], limits);
  const bounded = Math.min(Math.max(by, low - 0.9), high - 0.1);
  return between(axis, bounded, 1 + bounded, limits);
}

/** Returns the whole plane of a chart. */
export function wholeWindow(chart: Chart): Window {
  return { x: chart.x.limits, y: chart.y.limits };
}

export function isSameWindow(one: Window, other: Window): boolean {
  return [0, 1].every((end) => one.x[end] === other.x[end] && one.y[end] === other.y[end]);
}

/** Returns the smallest window that holds another and some places, with some room around them. */
export function widenedTo(chart: Chart, window: Window, places: readonly Place[]): Window {
  const wide = (axis: Axis, limits: Interval, values: readonly number[]): Interval => {
    const shares = values.map((value) => shareOf(axis, value, limits)).filter((at) => at > FAR_OFF);
    const [low, high] = [Math.min(...shares), Math.max(...shares)];
    const room = 0.05 * (Math.max(high, 1) - Math.min(low, 0));
    return between(axis, low < 0 ? low - room : 0, high > 1 ? high + room : 1, limits);
  };
  return {
    x: wide(
      chart.x,
      window.x,
      places.map(([x]) => x),
    ),
    y: wide(
      chart.y,
      window.y,
      places.map(([, y]) => y),
    ),
  };
}

/** Returns where a place is on drawn axes. */
export function at(plane: Plane, place: Place): Pair {
  return [
    shareOf(plane.chart.x, place[0], plane.window.x) * plane.width,
    shareOf(plane.chart.y, place[1], plane.window.y) * plane.height,
  ];
}

/** Returns the limits that an axis at the right has while a part of the left one is seen. */
export function rightLimits(chart: Chart, right: Axis, window: Window): Interval {
  const [low, high] = window.y.map((value) => shareOf(chart.y, value, chart.y.limits));
  return between(right, low ?? 0, high ?? 1, right.limits);
}

/** Returns whether pixels lie within the axes; half a pixel beyond them still does. */
export function isWithin({ width, height }: Plane, [x, y]: Pair): boolean {
  return x >= -0.5 && y >= -0.5 && x <= width + 0.5 && y <= height + 0.5;
}
