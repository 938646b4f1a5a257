/** Shapes of marks as paths around the origin, y downwards. */

import type { Edge, Shape } from "../document";

function polygon(...corners: readonly (readonly [number, number])[]): string {
  return `M${corners.map(([x, y]) => `${round(x)},${round(y)}`).join("L")}Z`;
}

/** Keeps files short: a hundredth of a pixel is not seen. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Returns a shape of a diameter; empty for none. */
export function symbol(shape: Shape, size: number): string {
  const r = size / 2;
  switch (shape) {
    case "circle":
      return `M${round(-r)},0a${round(r)},${round(r)} 0 1 0 ${round(size)},0a${round(r)},${round(r)} 0 1 0 ${round(-size)},0Z`;
    case "square":
      return polygon([-r, -r], [r, -r], [r, r], [-r, r]);
    case "triangle":
      return polygon([0, -r], [r, r], [-r, r]);
    case "down":
      return polygon([0, r], [-r, -r], [r, -r]);
    case "diamond":
      return polygon([0, -r * 1.25], [r * 1.25, 0], [0, r * 1.25], [-r * 1.25, 0]);
    case "plus":
      return crossed(r, 0);
    case "cross":
      return crossed(r, Math.PI / 4);
    case "star":
      return star(r * 1.1);
    case "cap":
      return `M${round(-r * 1.6)},0H${round(r * 1.6)}`;
    case "none":
      return "";
  }
}

/** Returns the arrow head of what lies beyond an edge. */
export function arrow(edge: Edge, size: number): string {
  const r = size / 2;
  const corners = {
    left: [
      [-r, 0],
      [r, -r],
      [r, r],
    ],
    right: [
      [r, 0],
      [-r, r],
      [-r, -r],
    ],
    top: [
      [0, -r],
      [r, r],
      [-r, r],
    ],
    bottom: [
      [0, r],
      [-r, -r],
      [r, -r],
    ],
  } as const;
  return polygon(...corners[edge]);
}

/** Returns a thick plus, turned by an angle. */
function crossed(r: number, angle: number): string {
  const a = r / 3;
  const corners = [
    [-a, -r],
    [a, -r],
    [a, -a],
    [r, -a],
    [r, a],
    [a, a],
    [a, r],
    [-a, r],
    [-a, a],
    [-r, a],
    [-r, -a],
    [-a, -a],
  ] as const;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return polygon(...corners.map(([x, y]) => [x * cos - y * sin, x * sin + y * cos] as const));
}

function star(r: number): string {
  return polygon(
    ...Array.from({ length: 10 }, (_, index) => {
      const far = index % 2 ? r * 0.42 : r;
      const angle = (index * Math.PI) / 5;
      return [far * Math.sin(angle), -far * Math.cos(angle)] as const;
    }),
  );
}
