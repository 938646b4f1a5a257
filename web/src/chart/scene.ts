/** A chart as a list of what is drawn, in the order of drawing; the third renderer of its grammar. */

import type { Area, Bar, Chart, Entry, Line, Mark, View } from "../document";
import type { ViewState } from "../state";
import { axisItems, gridItems, type Margins, marginsFor } from "./axes";
import { type Filtered, filtered, type Joined } from "./filter";
import type { Item, Measure, PathItem, TextItem } from "./items";
import {
  BAND_ALPHA,
  lineInk,
  on,
  type Paint,
  paintOf,
  pale,
  type Sizes,
  STROKES,
  sizesFor,
} from "./look";
import { FAINT, filling, markItems, type PlacedMark, placedMarks, placeOf } from "./marks";
import { Naming, type Placed } from "./naming";
import { at, isWithin, type Pair, type Plane, type Window } from "./scales";
import { round, symbol } from "./symbols";

/** What a picture of a chart is made from. */
export interface Wish {
  chart: Chart;
  view: View;
  state: ViewState;
  hidden: ReadonlySet<Entry>;
  window: Window;
  /** Of the axes with what stands beside them, in pixels. */
  width: number;
  measure: Measure;
  /** Shapes on their way from one choice to another; null: as chosen. */
  moving: { lines: readonly Line[]; marks: readonly Mark[] } | null;
}

/** What is drawn of a chart's axes, and where. */
export interface Scene {
  plane: Plane;
  sizes: Sizes;
  margins: Margins;
  shown: Filtered;
  marks: readonly PlacedMark[];
  /** Marks that lie outside of what is seen. */
  outside: readonly Mark[];
  /** Labels for which there was no room. */
  leftOut: readonly string[];
  /** Below the marks, which a canvas may paint. */
  below: readonly Item[];
  /** The marks; made when asked for, as there may be many. */
  markItems(): Item[];
  above: readonly Item[];
}

/** Strength of the label of what is not selected. */
const FAINT_TEXT = 0.35;
/** More marks than these are painted on a canvas. */
export const MOST_SHAPES = 400;
const BAR_HEIGHT = 0.62;
const LEAST_HEIGHT = 180;
const ROW_HEIGHT = 3.4;

/** Returns what is drawn of a chart. */
export function sceneOf(wish: Wish): Scene {
  const { chart, window, measure, state } = wish;
  const sizes = sizesFor(wish.width);
  const margins = marginsFor(chart, window, { width: wish.width, sizes, measure });
  const width = Math.max(wish.width - margins.left - margins.right, 80);
  const plane: Plane = { chart, window, width, height: Math.round(heightOf(chart, width, sizes)) };
  const kept = filtered(chart, wish.view, state, wish.hidden);
  const shown = { ...kept, ...wish.moving };
  const { inside, outside } = placedMarks(plane, shown.marks, sizes, {
    bySize: state.bySize,
    isFaint: shown.isFaint,
  });
  const seen = { ...shown, marks: inside.map(({ mark }) => mark) };
  const naming = new Naming(plane, seen, sizes, measure).placeAll();
  const below: Item[] = [
    ...shown.areas.flatMap((area) => areaItems(area, plane)),
    ...gridItems(plane, sizes),
    ...shown.bars.flatMap((bar) => barItems(bar, plane, shown.isFaint(bar))),
    ...byOrder(shown.lines).flatMap((line) => lineItems(line, plane, sizes, shown.isFaint(line))),
    ...shown.joined.map((joined) => joinedItem(joined, plane)),
    ...axisItems(plane, margins, sizes, measure),
  ];
  return {
    plane,
    sizes,
    margins,
    shown,
    outside,
    below,
    marks: inside,
    leftOut: [...new Set(naming.leftOut)],
    markItems: () => inside.flatMap((placed) => markItems(placed, plane, sizes)),
    above: naming.placed.flatMap((placed) => labelItems(placed, plane)),
  };
}

/** Returns the height of axes: as the chart asks, or as many rows of bars need. */
function heightOf(chart: Chart, width: number, sizes: Sizes): number {
  const usual = Math.max(width * chart.height, LEAST_HEIGHT);
  if (chart.y.scale !== "rows") return Math.min(usual, Math.max(0.8 * width, 620));
  return Math.max(chart.y.ticks.length, 2) * sizes.font * ROW_HEIGHT;
}

function byOrder(lines: readonly Line[]): Line[] {
  return lines.toSorted((one, other) => STROKES[one.kind].order - STROKES[other.kind].order);
}

/** Returns a place in pixels from the upper left corner, where a path can reach it. */
export function down(plane: Plane, place: Pair): Pair {
  const [x, y] = at(plane, place);
  return [bounded(x), bounded(plane.height - y)];
}

/** Keeps far-off places near enough for renderers that count in single precision. */
function bounded(value: number): number {
  return Math.min(Math.max(value, -1e5), 1e5);
}

/** Returns the path through places. */
export function pathThrough(places: readonly Pair[]): string {
  if (places.length === 0) return "";
  return `M${places.map(([x, y]) => `${round(x)},${round(y)}`).join("L")}`;
}

function areaItems(area: Area, plane: Plane): Item[] {
  if (area.ink === null) return [];
  const d = `${pathThrough(area.corners.map((corner) => down(plane, corner)))}Z`;
  return [{ kind: "path", d, fill: pale(paintOf(area.ink)), isClipped: true }];
}

/** Returns the rectangle of a bar, in pixels from the upper left corner. */
export function barBox(
  bar: Bar,
  plane: Plane,
): { x: number; y: number; width: number; height: number } {
  const [left, top] = down(plane, [bar.begin, bar.row + BAR_HEIGHT / 2]);
  const [right, bottom] = down(plane, [bar.end, bar.row - BAR_HEIGHT / 2]);
  return { x: Math.min(left, right), y: top, width: Math.abs(right - left), height: bottom - top };
}

function barItems(bar: Bar, plane: Plane, isFaint: boolean): Item[] {
  const { x, y, width, height } = barBox(bar, plane);
  const d = `M${round(x)},${round(y)}h${round(width)}v${round(height)}h${round(-width)}Z`;
  const ink = paintOf(bar.ink);
  const stroke = bar.face === "full" ? "paper" : ink;
  const opacity = isFaint ? FAINT : 1;
  return [
    { kind: "path", d, ...filling(bar.face, ink), stroke, width: 1, opacity, isClipped: true },
  ];
}

function lineItems(line: Line, plane: Plane, sizes: Sizes, isFaint: boolean): Item[] {
  const stroke = STROKES[line.kind];
  const ink = paintOf(lineInk(line.kind, line.ink));
  const places = line.places.map((place) => down(plane, place));
  const strength = isFaint ? FAINT : 1;
  const items: Item[] = [];
  if (line.low.length > 0) {
    const opacity = BAND_ALPHA * strength;
    items.push({ kind: "path", d: bandPath(line, plane), fill: ink, opacity, isClipped: true });
  }
  const width = stroke.width * 1.33;
  if (line.kind === "change") {
    for (let index = 1; index < places.length; index++) {
      const [from, to] = [places[index - 1], places[index]];
      if (from && to) items.push(...arrowItems(from, to, ink, strength, sizes));
    }
  } else if (stroke.width > 0) {
    const dashes = stroke.dashes.map((length) => length * width);
    const d = pathThrough(places);
    items.push({ kind: "path", d, stroke: ink, width, dashes, opacity: strength, isClipped: true });
  }
  if (line.shape !== null && line.shape !== "none") {
    const d = symbol(line.shape, sizes.marker * 0.8);
    for (const place of places)
      if (isWithin(plane, place))
        items.push({
          kind: "path",
          d,
          at: [round(place[0]), round(place[1])],
          fill: ink,
          opacity: strength,
        });
  }
  return items;
}

function bandPath(line: Line, plane: Plane): string {
  const high = line.places.map(([x], index) => down(plane, [x, line.high[index] ?? Number.NaN]));
  const low = line.places.map(([x], index) => down(plane, [x, line.low[index] ?? Number.NaN]));
  return `${pathThrough([...high, ...low.reverse()])}Z`;
}

/** Returns an arrow that ends shortly before the mark at its tip. */
function arrowItems(from: Pair, to: Pair, ink: Paint, opacity: number, sizes: Sizes): PathItem[] {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const gap = sizes.marker * 0.55;
  if (length <= 2 * gap) return [];
  const [x, y] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  const tip: Pair = [to[0] - x * gap, to[1] - y * gap];
  const head = sizes.font * 0.6;
  const wing = (side: number): Pair => [
    tip[0] - head * x + side * head * 0.35 * y,
    tip[1] - head * y - side * head * 0.35 * x,
  ];
  const shaft = pathThrough([[from[0] + x * gap, from[1] + y * gap], tip]);
  return [
    { kind: "path", d: shaft, stroke: ink, width: 1.2, opacity, isClipped: true },
    {
      kind: "path",
      d: `${pathThrough([tip, wing(1), wing(-1)])}Z`,
      fill: ink,
      opacity,
      isClipped: true,
    },
  ];
}

function joinedItem({ marks }: Joined, plane: Plane): Item {
  const d = pathThrough(marks.map((mark) => down(plane, placeOf(mark))));
  const stroke = paintOf(marks[0]?.ink ?? "ink");
  return { kind: "path", d, stroke, width: 2, dashes: [2, 3], isClipped: true };
}

function labelItems(label: Placed, plane: Plane): Item[] {
  const [x, up] = label.box.centre;
  const items: Item[] = [];
  const paper = label.area === null ? "paper" : pale(paintOf(label.area));
  if (label.lead) {
    const ends = label.lead.map(([px, py]): Pair => [px, plane.height - py]);
    items.push({ kind: "path", d: pathThrough(ends), stroke: paintOf(label.ink), width: 0.7 });
  }
  const rows = label.text.split("\n");
  const leading = label.size * 1.25;
  rows.forEach((text, index) => {
    const across = (index - (rows.length - 1) / 2) * leading;
    const item: TextItem = {
      kind: "text",
      text,
      x: round(x + across * Math.sin(label.box.angle)),
      y: round(plane.height - up + across * Math.cos(label.box.angle)),
      size: label.size,
      ink: label.bar?.face === "full" ? on(paintOf(label.bar.ink)) : paintOf(label.ink),
      anchor: "middle",
      isBold: label.isBold,
    };
    if (label.box.angle !== 0) item.angle = round((-label.box.angle * 180) / Math.PI);
    if (label.isFaint) item.opacity = FAINT_TEXT;
    if (!label.bar && !label.isInside) item.halo = paper;
    items.push(item);
  });
  return items;
}
