/** Marks on a canvas: for those that are too many for elements of their own. */

import type { Ink } from "../document";
import type { PathItem } from "./items";
import { type Colouring, paintOf, type Sizes } from "./look";
import { forIntervals, INTERVAL_WIDTH, type PlacedMark, shapeItem } from "./marks";
import type { Plane } from "./scales";

/** Pixels around the place of a shape that its picture holds. */
const MOST_REACH = 40;

/** Paints marks at full strength: first all intervals, then the shapes. */
export function paintMarks(
  context: CanvasRenderingContext2D,
  marks: readonly PlacedMark[],
  { plane, sizes }: { plane: Plane; sizes: Sizes },
  sprites: Sprites,
): void {
  paintIntervals(context, marks, { plane, sizes }, sprites.colour);
  const { scale } = sprites;
  for (const placed of marks) {
    const { x, y } = placed;
    const sprite = sprites.of(placed);
    if (sprite) {
      const { image, reach } = sprite;
      // Between dots of the screen every picture would have to be made anew.
      const left = Math.round((x - reach) * scale) / scale;
      const top = Math.round((y - reach) * scale) / scale;
      context.drawImage(image, left, top, 2 * reach, 2 * reach);
      continue;
    }
    context.save();
    context.translate(x, y);
    draw(context, shapeItem(placed), sprites.colour);
    context.restore();
  }
}

function paintIntervals(
  context: CanvasRenderingContext2D,
  marks: readonly PlacedMark[],
  { plane, sizes }: { plane: Plane; sizes: Sizes },
  colour: Colouring,
): void {
  context.save();
  context.beginPath();
  context.rect(0, 0, plane.width, plane.height);
  context.clip();
  const half = INTERVAL_WIDTH / 2;
  // Filling rectangles is several times as fast as stroking a path of so many lines.
  const line = (x0: number, y0: number, x1: number, y1: number): void => {
    if (x0 === x1) context.fillRect(x0 - half, y0, INTERVAL_WIDTH, y1 - y0);
    else context.fillRect(x0, y0 - half, x1 - x0, INTERVAL_WIDTH);
  };
  let ink: Ink | null = null;
  for (const placed of marks) {
    if (placed.mark.ink !== ink) {
      ink = placed.mark.ink;
      context.fillStyle = colour(paintOf(ink));
    }
    forIntervals(placed, plane, sizes, line);
  }
  context.restore();
}

interface Sprite {
  image: HTMLCanvasElement;
  reach: number;
}

/** Pictures of shapes: the same few come again and again, and copying is faster than filling. */
export class Sprites {
  readonly #made = new Map<string, Sprite | null>();

  constructor(
    readonly colour: Colouring,
    /** Dots of the screen in a pixel of the page. */
    readonly scale: number,
  ) {}

  /** Returns the picture of a mark's shape; null: it is too large to be kept. */
  of(placed: PlacedMark): Sprite | null {
    const { mark, edge, size } = placed;
    const { shape, face, ink, is_alarming } = mark;
    // Its size in the chart decides on its rim.
    const look = `${edge ?? shape} ${face} ${ink} ${is_alarming} ${size} ${mark.size}`;
    let sprite = this.#made.get(look);
    if (sprite === undefined) {
      sprite = this.#make(shapeItem(placed));
      this.#made.set(look, sprite);
    }
    return sprite;
  }

  #make(item: PathItem): Sprite | null {
    const image = document.createElement("canvas");
    // The points of a star reach a little farther than their corners.
    const reach = Math.ceil(reachOf(item.d) + (item.width ?? 0) + 0.5);
    if (reach > MOST_REACH) return null;
    image.width = Math.ceil(2 * reach * this.scale);
    image.height = image.width;
    // Its dots are read again and again.
    const context = image.getContext("2d", { willReadFrequently: true });
    if (!context) return null;
    context.setTransform(this.scale, 0, 0, this.scale, reach * this.scale, reach * this.scale);
    draw(context, item, this.colour);
    return { image, reach };
  }
}

/** Returns how far the corners of a shape are from its place; a circle begins at its rim. */
function reachOf(d: string): number {
  const corners = [...d.matchAll(/[ML](-?[\d.]+),(-?[\d.]+)/g)];
  return Math.max(0, ...corners.flatMap(([, x, y]) => [Math.abs(Number(x)), Math.abs(Number(y))]));
}

function draw(context: CanvasRenderingContext2D, item: PathItem, colour: Colouring): void {
  const path = new Path2D(item.d);
  if (item.fill) {
    context.fillStyle = colour(item.fill);
    context.fill(path);
  }
  if (item.stroke) {
    context.strokeStyle = colour(item.stroke);
    context.lineWidth = item.width ?? 1;
    context.stroke(path);
  }
}
