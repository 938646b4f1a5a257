/** Samples of lines and shapes, as entries of a key show them. */

import type { Entry } from "../document";
import type { Item } from "./items";
import { BAND_ALPHA, lineInk, type Paint, paintOf, type Sizes, STROKES } from "./look";
import { filling } from "./marks";
import { round, symbol } from "./symbols";

/** Returns whether an entry shows a piece of a line. */
function hasLine(entry: Entry): boolean {
  return entry.line !== null && entry.line !== "points";
}

/** Returns the colour of an entry's sample and of its bold text. */
export function entryPaint(entry: Entry): Paint {
  return paintOf(entry.line === null ? (entry.ink ?? "ink") : lineInk(entry.line, entry.ink));
}

/** Returns the width that the sample of an entry needs, with the gap to its text. */
export function sampleWidth(entry: Entry, { font }: Sizes): number {
  if (hasLine(entry)) return font * 2.6;
  return entry.shape !== null && entry.shape !== "none" ? font * 1.4 : 0;
}

/** Returns a piece of the line and the shape that an entry speaks of, around a height of 0. */
export function sampleItems(entry: Entry, sizes: Sizes): Item[] {
  const { font } = sizes;
  const paint = entryPaint(entry);
  const items: Item[] = [];
  const end = round(font * 2.1);
  if (entry.line !== null && hasLine(entry)) {
    const half = round(font * 0.4);
    const band = `M0,${-half}H${end}V${half}H0Z`;
    if (entry.has_band) items.push({ kind: "path", d: band, fill: paint, opacity: BAND_ALPHA });
    const stroke = STROKES[entry.line];
    const width = stroke.width * 1.33;
    const dashes = stroke.dashes.map((length) => length * width);
    items.push({ kind: "path", d: `M0,0H${end}`, stroke: paint, width, dashes });
  }
  if (entry.shape !== null && entry.shape !== "none") {
    const at = [round(hasLine(entry) ? end / 2 : font * 0.5), 0] as const;
    const d = symbol(entry.shape, sizes.marker);
    const look =
      entry.shape === "cap"
        ? { stroke: paint, width: 2.2 }
        : { ...filling(entry.face, paint), stroke: paint, width: 1.2 };
    items.push({ kind: "path", d, at, ...look });
  }
  return items;
}
