/** Axes: room for their texts, ticks, grid and labels. */

import type { Axis, Chart, Interval } from "../document";
import type { Item, Measure } from "./items";
import type { Sizes } from "./look";
import { type Plane, rightLimits, shareOf, type Window } from "./scales";
import { round } from "./symbols";
import { type Ticks, ticksIn } from "./ticks";

/** Room around axes, in pixels. */
export interface Margins {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const TICK = 4;
const GAP = 4;
const SLANT = 35;
/** Share of the width that texts of an upright axis may take. */
const MOST_BESIDE = 0.42;
const ROWS_BETWEEN_TICKS = 2.6;
/** Width of a letter, in sizes of text, as good as needed to see whether ticks have room. */
const LETTER = 0.6;
const BETWEEN_TICKS = 1.6;

export interface Around {
  width: number;
  sizes: Sizes;
  measure: Measure;
}

/** Returns the room that ticks and labels of a chart's axes need. */
export function marginsFor(chart: Chart, window: Window, around: Around): Margins {
  const { sizes, width } = around;
  const wide = (axis: Axis, limits: Interval): number => {
    const texts = ticksIn(axis, limits, 12).map(([, text]) => around.measure(text, sizes.font));
    const widest = Math.min(Math.max(0, ...texts), width * MOST_BESIDE);
    return widest + TICK + GAP + labelRoom(axis, sizes);
  };
  const last = chart.x.ticks.at(-1)?.[1] ?? "";
  const beyond = chart.x.is_slanted ? 0 : around.measure(last, sizes.font) / 2;
  const { right } = chart;
  const ofRight = right ? wide(right, rightLimits(chart, right, window)) : beyond + 2;
  const slanted = Math.max(0, ...chart.x.ticks.map(([, text]) => around.measure(text, sizes.font)));
  const ticks = chart.x.is_slanted
    ? slanted * Math.sin((SLANT * Math.PI) / 180) + sizes.font
    : sizes.font * 1.2;
  // Whole pixels keep straight lines sharp, and let canvases copy dot by dot.
  return {
    left: Math.ceil(wide(chart.y, window.y)),
    right: Math.ceil(Math.max(ofRight, sizes.marker)),
    top: Math.ceil(Math.max(sizes.font * 0.8, sizes.marker)),
    bottom: Math.ceil(TICK + GAP + ticks + (chart.x.label ? sizes.font * 1.6 : 0)),
  };
}

function horizontalTicks({ chart, window, width }: Plane, { font }: Sizes): Ticks {
  // Slanted texts are as wide as they are high.
  if (chart.x.is_slanted) return ticksIn(chart.x, window.x, Math.floor(width / font));
  const longest = Math.max(2, ...ticksIn(chart.x, window.x, 9).map(([, text]) => text.length));
  const room = width / (font * (longest * LETTER + BETWEEN_TICKS));
  return ticksIn(chart.x, window.x, Math.max(Math.floor(room) + 1, 2));
}

function uprightTicks(axis: Axis, limits: Interval, plane: Plane, sizes: Sizes): Ticks {
  return ticksIn(
    axis,
    limits,
    Math.max(Math.floor(plane.height / (sizes.font * ROWS_BETWEEN_TICKS)), 2),
  );
}

/** Returns the lines at the ticks. */
export function gridItems(plane: Plane, sizes: Sizes): Item[] {
  const { chart, window, width, height } = plane;
  const across = horizontalTicks(plane, sizes)
    .map(([value]) => `M${round(shareOf(chart.x, value, window.x) * width)},0V${round(height)}`)
    .join("");
  const hasRows = chart.y.scale === "rows";
  const up = uprightTicks(chart.y, window.y, plane, sizes)
    .map(
      ([value]) => `M0,${round((1 - shareOf(chart.y, value, window.y)) * height)}H${round(width)}`,
    )
    .join("");
  const d = across + (hasRows ? "" : up);
  return d ? [{ kind: "path", d, stroke: "grid", width: 0.8 }] : [];
}

/** Returns frame, ticks and texts of all axes. */
export function axisItems(plane: Plane, margins: Margins, sizes: Sizes, measure: Measure): Item[] {
  const { chart, window, width, height } = plane;
  const [w, h] = [round(width), round(height)];
  const frame = chart.y.scale === "rows" ? `M0,0V${h}H${w}` : `M0,0H${w}V${h}H0Z`;
  const items: Item[] = [{ kind: "path", d: frame, stroke: "ink", width: 0.8 }];
  items.push(...acrossItems(plane, margins, sizes, measure));
  const room = margins.left - TICK - GAP - labelRoom(chart.y, sizes) + 1;
  const ticks = uprightTicks(chart.y, window.y, plane, sizes).map(
    ([value, text]) => [value, shortened(text, room, sizes.font, measure)] as const,
  );
  items.push(...upItems(chart.y, window.y, ticks, plane, sizes, -1));
  items.push(...upLabel(chart.y, plane, sizes, measure, -margins.left + sizes.font * 0.7));
  if (chart.right) {
    const limits = rightLimits(chart, chart.right, window);
    const own = uprightTicks(chart.right, limits, plane, sizes);
    items.push(...upItems(chart.right, limits, own, plane, sizes, 1));
    items.push(
      ...upLabel(chart.right, plane, sizes, measure, width + margins.right - sizes.font * 0.7),
    );
  }
  return items;
}

function acrossItems(plane: Plane, margins: Margins, sizes: Sizes, measure: Measure): Item[] {
  const { chart, window, width, height } = plane;
  const items: Item[] = [];
  const slant = chart.x.is_slanted;
  for (const [value, text] of horizontalTicks(plane, sizes)) {
    const x = round(shareOf(chart.x, value, window.x) * width);
    items.push({ kind: "path", d: `M${x},${round(height)}v${TICK}`, stroke: "ink", width: 0.8 });
    const y = round(height + TICK + GAP + sizes.font * 0.5);
    const common = { kind: "text", text, x, y, size: sizes.font, ink: "ink" } as const;
    items.push(
      slant ? { ...common, anchor: "end", angle: -SLANT } : { ...common, anchor: "middle" },
    );
  }
  if (chart.x.label) {
    const y = round(height + margins.bottom - sizes.font * 0.7);
    const size = fittingSize(chart.x.label, width + margins.right, sizes.font, measure);
    const common = { kind: "text", text: chart.x.label, size, ink: "ink" } as const;
    items.push({ ...common, x: round(width / 2), y, anchor: "middle" });
  }
  return items;
}

function upItems(
  axis: Axis,
  limits: Interval,
  ticks: Ticks,
  { width, height }: Plane,
  sizes: Sizes,
  side: -1 | 1,
): Item[] {
  const x = side < 0 ? 0 : round(width);
  return ticks.flatMap(([value, text]): Item[] => {
    const y = round((1 - shareOf(axis, value, limits)) * height);
    return [
      { kind: "path", d: `M${x},${y}h${side * TICK}`, stroke: "ink", width: 0.8 },
      {
        kind: "text",
        text,
        x: x + side * (TICK + GAP),
        y,
        size: sizes.font,
        ink: "ink",
        anchor: side < 0 ? "end" : "start",
      },
    ];
  });
}

function upLabel(axis: Axis, { height }: Plane, sizes: Sizes, measure: Measure, x: number): Item[] {
  if (!axis.label) return [];
  const y = round(height / 2);
  const size = fittingSize(axis.label, height, sizes.font, measure);
  const common = { kind: "text", text: axis.label, size, ink: "ink" } as const;
  return [{ ...common, x: round(x), y, anchor: "middle", angle: -90 }];
}

/** Returns the room that the label of an upright axis takes. */
function labelRoom(axis: Axis, { font }: Sizes): number {
  return axis.label ? font * 1.7 : 4;
}

/** Returns a size in which a text is no wider than there is room for. */
function fittingSize(text: string, room: number, size: number, measure: Measure): number {
  return size * Math.min(1, room / Math.max(measure(text, size), 1));
}

/** Returns as much of a text as there is room for. */
export function shortened(text: string, room: number, size: number, measure: Measure): string {
  if (measure(text, size) <= room) return text;
  const letters = [...text];
  while (letters.length > 1 && measure(`${letters.join("")}…`, size) > room) letters.pop();
  return `${letters.join("").trimEnd()}…`;
}
