/** What is drawn, as plain values in the order of drawing: for the page, for canvases and files. */

import type { Paint } from "./look";

/** Pixels from the upper left corner of the axes. */
export interface PathItem {
  kind: "path";
  d: string;
  /** Where its origin lies. */
  at?: readonly [number, number];
  fill?: Paint;
  stroke?: Paint;
  width?: number;
  /** Lengths on and off, in pixels. */
  dashes?: readonly number[];
  opacity?: number;
  /** Colour of slanted lines over the filling. */
  hatch?: Paint;
  /** Whether only what lies within the frame is drawn. */
  isClipped?: boolean;
}

export interface TextItem {
  kind: "text";
  text: string;
  x: number;
  /** Of the middle of its only row. */
  y: number;
  size: number;
  ink: Paint;
  anchor: "start" | "middle" | "end";
  /** Degrees, clockwise, around its place. */
  angle?: number;
  isBold?: boolean;
  /** Colour of the paper that it hides lines with. */
  halo?: Paint;
  opacity?: number;
}

export type Item = PathItem | TextItem;

/** Returns the width of a text of a size, in pixels. */
export type Measure = (text: string, size: number, isBold?: boolean) => number;
