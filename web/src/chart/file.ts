/** The current view as a picture that stands alone: title, axes, key and notes, in one SVG file. */

import type { Chart, Entry } from "../document";
import type { Item, Measure, TextItem } from "./items";
import type { Colouring, Sizes } from "./look";
import { entryPaint, sampleItems, sampleWidth } from "./samples";
import type { Scene } from "./scene";
import { definitions, escaped, FONTS, svgOf } from "./svg";
import { round } from "./symbols";

const MARGIN = 10;
const LEADING = 1.45;

/** Returns a text in rows that fit a width; a word that is wider has a row of its own. */
export function wrapped(text: string, width: number, size: number, measure: Measure): string[] {
  const rows: string[] = [""];
  for (const word of text.replaceAll("\n", " ").split(" ")) {
    const last = rows.at(-1) ?? "";
    const longer = last ? `${last} ${word}` : word;
    if (last && measure(longer, size) > width) rows.push(word);
    else rows[rows.length - 1] = longer;
  }
  return rows;
}

/** A column of rows of text under each other, as wide as the picture. */
class Column {
  readonly items: Item[] = [];
  height = 0;

  constructor(
    private readonly width: number,
    private readonly sizes: Sizes,
    private readonly measure: Measure,
  ) {}

  gap(height: number): void {
    this.height += height;
  }

  rows(text: string, how: Partial<TextItem> = {}, indent = 0): void {
    const size = how.size ?? this.sizes.font;
    for (const row of wrapped(
      text,
      this.width - indent,
      size * (how.isBold ? 1.08 : 1),
      this.measure,
    )) {
      const y = round(this.height + (size * LEADING) / 2);
      this.items.push({
        kind: "text",
        text: row,
        x: round(indent),
        y,
        size,
        ink: "ink",
        anchor: "start",
        ...how,
      });
      this.height += size * LEADING;
    }
  }

  entries(key: readonly Entry[]): void {
    const { font } = this.sizes;
    let across = 0;
    let below = this.height;
    for (const entry of key) {
      const wide = this.widthOf(entry) + font * 1.3;
      if (across > 0 && (!entry.is_abreast || across + wide > this.width)) {
        across = 0;
        this.height = below;
      }
      const top = this.height;
      this.entry(entry, across);
      below = Math.max(below, this.height);
      across = entry.is_abreast ? across + wide : 0;
      if (entry.is_abreast) this.height = top;
    }
    this.height = below;
  }

  private widthOf(entry: Entry): number {
    const lead = entry.lead ? this.measure(entry.lead, this.sizes.font, true) + 5 : 0;
    return sampleWidth(entry, this.sizes) + lead + this.measure(entry.text, this.sizes.font);
  }

  private entry(entry: Entry, across: number): void {
    const { font, small } = this.sizes;
    const begin = across + (entry.is_part ? font * 1.2 : 0);
    const middle = this.height + (font * LEADING) / 2;
    for (const item of sampleItems(entry, this.sizes)) {
      if (item.kind === "text") continue;
      const [x, y] = item.at ?? [0, 0];
      this.items.push({ ...item, at: [round(x + begin), round(y + middle)] });
    }
    let indent = begin + sampleWidth(entry, this.sizes);
    if (entry.lead) {
      const ink = entryPaint(entry);
      const common = { size: font, ink, isBold: true, anchor: "start" } as const;
      this.items.push({
        kind: "text",
        text: entry.lead,
        x: round(indent),
        y: round(middle),
        ...common,
      });
      indent += this.measure(entry.lead, font, true) + 5;
    }
    this.rows(entry.text, { size: entry.is_part ? small : font }, indent);
  }
}

/** Returns the whole picture of a scene as an SVG document. */
export function svgFile(
  scene: Scene,
  chart: Chart,
  hidden: ReadonlySet<Entry>,
  how: { colour: Colouring; measure: Measure },
): string {
  const { margins, plane, sizes } = scene;
  const width = plane.width + margins.left + margins.right;
  const head = new Column(width, sizes, how.measure);
  head.rows(chart.title, { size: sizes.font * 1.2, isBold: true });
  if (chart.subtitle) head.rows(chart.subtitle, { size: sizes.small, ink: "note" });
  head.gap(sizes.font * 0.4);
  const foot = new Column(width, sizes, how.measure);
  foot.gap(sizes.font * 0.6);
  foot.entries(chart.key.filter((entry) => !hidden.has(entry)));
  for (const note of notesOf(scene, chart)) foot.rows(note, { size: sizes.small, ink: "note" });
  const down = head.height + margins.top;
  const below = down + plane.height + margins.bottom;
  const total = [round(width + 2 * MARGIN), round(below + foot.height + 2 * MARGIN)];
  const items = [...scene.below, ...scene.markItems(), ...scene.above];
  const writing = { colour: how.colour, name: "rp" };
  const moved = (x: number, y: number, of: readonly Item[]) =>
    `<g transform="translate(${round(x)},${round(y)})">${svgOf(of, writing)}</g>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${total[0]}" height="${total[1]}" ` +
    `viewBox="0 0 ${total[0]} ${total[1]}" font-family="${FONTS}" role="img">` +
    `<title>${escaped(chart.title)}</title><desc>${escaped(chart.subtitle)}</desc>` +
    definitions([...items, ...foot.items], {
      ...writing,
      width: plane.width,
      height: plane.height,
    }) +
    `<rect width="100%" height="100%" fill="${how.colour("paper")}"/>` +
    moved(MARGIN, MARGIN, head.items) +
    moved(MARGIN + margins.left, MARGIN + down, items) +
    moved(MARGIN, MARGIN + below, foot.items) +
    "</svg>\n"
  );
}

/** Returns what is said below a chart: its notes, and which labels found no room. */
export function notesOf(scene: Scene, chart: Chart): string[] {
  const left = scene.leftOut.join("; ");
  const of = [...chart.notes, ...chart.drawing_notes];
  return left ? [...of, `not labelled for want of room: ${left}`] : of;
}

/** Returns an SVG document as a PNG image, larger by a factor. */
export async function pngOf(svg: string, scale: number): Promise<Blob> {
  const image = new Image();
  const loaded = new Promise<void>((resolve, reject) => {
    image.onload = () => resolve();
    image.onerror = () => reject(new Error("this browser cannot draw the picture"));
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await loaded;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(image.width * scale);
  canvas.height = Math.round(image.height * scale);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no canvas");
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture was made")))),
  );
}
