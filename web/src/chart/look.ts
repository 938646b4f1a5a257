/** How things look: colours, strokes and sizes, all written by Python from its own theme. */

import type { Ink, LineKind } from "../document";
import written from "../look.json";

export type Ground = "light" | "dark";

/** Name of a colour: "ink", "0", "pale 0", "grid"; "none" paints nothing. */
export type Paint = string;

/** Turns the name of a colour into what a renderer takes. */
export type Colouring = (paint: Paint) => string;

export interface Stroke {
  width: number;
  /** Lengths on and off, in widths. */
  dashes: readonly number[];
  ink: Ink | null;
  /** How much a label loses by lying on it. */
  cost: number;
  order: number;
}

const COLOURS: Readonly<Record<Ground, Readonly<Record<string, string>>>> = written.colours;

export const STROKES = written.strokes as unknown as Readonly<Record<LineKind, Stroke>>;
export const BAND_ALPHA = written.band_alpha;

/** Returns the name of the colour of an ink; beyond the palette, colours come again. */
export function paintOf(ink: Ink): Paint {
  return typeof ink === "number" ? String(ink % written.series) : ink;
}

export function pale(paint: Paint): Paint {
  return `pale ${paint}`;
}

/** Returns the colour that is read best on another. */
export function on(paint: Paint): Paint {
  return `on ${paint}`;
}

/** Returns the colour of a line: its own, or that of its kind. */
export function lineInk(kind: LineKind, ink: Ink | null): Ink {
  return ink ?? STROKES[kind].ink ?? "ink";
}

/** Colours as numbers, for what leaves the page and for canvases. */
export function fixedColours(ground: Ground): Colouring {
  return (paint) => (paint === "none" ? "none" : (COLOURS[ground][paint] ?? "#000000"));
}

/** Colours as variables of the page's style, so that a change of ground needs no drawing. */
export function pageColours(paint: Paint): string {
  return paint === "none" ? "none" : `var(--rp-${paint.replaceAll(" ", "-")})`;
}

/** Sizes of text and marks that suit axes of a width, in pixels. */
export interface Sizes {
  font: number;
  /** Of labels and notes. */
  small: number;
  /** Diameter of a usual mark. */
  marker: number;
}

export function sizesFor(width: number): Sizes {
  const font = Math.min(Math.max(9 + width / 220, 10.5), 13);
  return { font, small: font * 0.9, marker: font * 0.66 };
}
