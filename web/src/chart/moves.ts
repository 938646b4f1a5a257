/** Which part of the plane is seen after a zoom or a move; rows of bars stay where they are. */

import { between, type Pair, type Plane, panned, type Window, zoomed } from "./scales";

/** Returns the window closer by a factor around a place in pixels from the upper left corner. */
export function zoomedAt(
  { chart, window, width, height }: Plane,
  factor: number,
  [x, y]: Pair,
): Window {
  return {
    x: zoomed(chart.x, window.x, factor, x / width),
    y: chart.y.scale === "rows" ? window.y : zoomed(chart.y, window.y, factor, 1 - y / height),
  };
}

/** Returns the window after what is seen was moved by pixels to the right and down. */
export function pannedBy({ chart, window, width, height }: Plane, [x, y]: Pair): Window {
  return {
    x: panned(chart.x, window.x, -x / width),
    y: chart.y.scale === "rows" ? window.y : panned(chart.y, window.y, y / height),
  };
}

/** Returns the window of a rectangle between two corners in pixels from the upper left corner. */
export function within({ chart, window, width, height }: Plane, from: Pair, to: Pair): Window {
  const share = (value: number, size: number): number => Math.min(Math.max(value / size, 0), 1);
  const [left, right] = [Math.min(from[0], to[0]), Math.max(from[0], to[0])];
  const [top, bottom] = [Math.min(from[1], to[1]), Math.max(from[1], to[1])];
  return {
    x: between(chart.x, share(left, width), share(right, width), window.x),
    y:
      chart.y.scale === "rows"
        ? window.y
        : between(chart.y, 1 - share(bottom, height), 1 - share(top, height), window.y),
  };
}
