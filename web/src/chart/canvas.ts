/** Items on a canvas: for marks that are too many for elements of their own. */

import type { Item, PathItem } from "./items";
import type { Colouring } from "./look";

/** Pixels around the place of a shape that its picture holds. */
const MOST_REACH = 40;

/** Paints paths; texts are never among what a canvas is given. */
export function paint(
  context: CanvasRenderingContext2D,
  items: readonly Item[],
  sprites: Sprites,
  frame: { width: number; height: number },
): void {
  const { colour, scale } = sprites;
  const clip = new Path2D();
  clip.rect(0, 0, frame.width, frame.height);
  for (const item of items) {
    if (item.kind !== "path") continue;
    const [x, y] = item.at ?? [0, 0];
    const sprite = item.at ? sprites.of(item) : null;
    if (sprite) {
      const { image, reach } = sprite;
      // Between dots of the screen every picture would have to be made anew.
      const [left, top] = [x - reach, y - reach].map((edge) => Math.round(edge * scale));
      context.drawImage(image, (left ?? 0) / scale, (top ?? 0) / scale, 2 * reach, 2 * reach);
      continue;
    }
    context.save();
    if (item.isClipped) context.clip(clip);
    context.translate(x, y);
    draw(context, item, colour);
    context.restore();
  }
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

  of(item: PathItem): Sprite | null {
    const look = `${item.d} ${item.fill} ${item.stroke} ${item.width} ${item.opacity} ${item.hatch}`;
    let sprite = this.#made.get(look);
    if (sprite === undefined) {
      sprite = this.#make(item);
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
  context.globalAlpha = item.opacity ?? 1;
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
