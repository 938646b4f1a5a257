/** Items on a canvas: for marks that are too many for elements of their own. */

import type { Item, PathItem } from "./items";
import type { Colouring } from "./look";

/** Paints paths; texts are never among what a canvas is given. */
export function paint(
  context: CanvasRenderingContext2D,
  items: readonly Item[],
  colour: Colouring,
  frame: { width: number; height: number },
): void {
  // The same few shapes come again and again.
  const paths = new Map<string, Path2D>();
  const clip = new Path2D();
  clip.rect(0, 0, frame.width, frame.height);
  for (const item of items) {
    if (item.kind !== "path") continue;
    let path = paths.get(item.d);
    if (!path) {
      path = new Path2D(item.d);
      if (item.at) paths.set(item.d, path);
    }
    if (item.isClipped) {
      context.save();
      context.clip(clip);
      draw(context, path, item, colour);
      context.restore();
    } else {
      draw(context, path, item, colour);
    }
  }
}

function draw(
  context: CanvasRenderingContext2D,
  path: Path2D,
  item: PathItem,
  colour: Colouring,
): void {
  const [x, y] = item.at ?? [0, 0];
  context.translate(x, y);
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
  context.translate(-x, -y);
}
