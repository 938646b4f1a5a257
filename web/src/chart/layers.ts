/** Puts a scene on the layers of a chart: SVG, and a canvas where there are many marks. */

import { paint } from "./canvas";
import type { Frame } from "./frame";
import type { Item } from "./items";
import { type Colouring, pageColours } from "./look";
import { batched } from "./marks";
import type { Scene } from "./scene";
import { definitions, svgOf } from "./svg";

export class Layers {
  constructor(
    private readonly frame: Frame,
    private readonly name: string,
  ) {}

  /** Draws all but what is pointed at. */
  draw(scene: Scene, isOnCanvas: boolean, colours: Colouring): void {
    this.#size(scene);
    this.fill("below", [...scene.below, ...(isOnCanvas ? [] : scene.markItems())], scene);
    this.frame.canvas.hidden = !isOnCanvas;
    if (isOnCanvas) this.#paint(scene, colours);
    this.fill("above", scene.above, scene);
  }

  fill(layer: "below" | "above" | "pointing", items: readonly Item[], { plane }: Scene): void {
    const { width, height } = plane;
    const writing = { colour: pageColours, name: `${this.name}-${layer}` };
    this.frame[layer].innerHTML =
      definitions(items, { ...writing, width, height }) + svgOf(items, writing);
  }

  #size(scene: Scene): void {
    const { below, above, pointing, stage, plot, canvas } = this.frame;
    const { plane, margins } = scene;
    const { width, height } = sizeOf(scene);
    stage.style.height = `${height}px`;
    for (const svg of [below, above, pointing]) {
      svg.setAttribute("width", String(width));
      svg.setAttribute("height", String(height));
      svg.setAttribute("viewBox", `${-margins.left} ${-margins.top} ${width} ${height}`);
    }
    place(plot, { left: margins.left, top: margins.top, width: plane.width, height: plane.height });
    place(canvas, { left: 0, top: 0, width, height });
  }

  #paint(scene: Scene, colours: Colouring): void {
    const { canvas } = this.frame;
    const { margins, plane } = scene;
    const scale = devicePixelRatio || 1;
    const { width, height } = sizeOf(scene);
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d");
    if (!context) return;
    context.setTransform(scale, 0, 0, scale, margins.left * scale, margins.top * scale);
    paint(context, batched(scene.markItems()), colours, { ...plane, scale });
  }
}

function sizeOf({ plane, margins }: Scene): { width: number; height: number } {
  return {
    width: plane.width + margins.left + margins.right,
    height: plane.height + margins.top + margins.bottom,
  };
}

function place(
  element: HTMLElement,
  at: Readonly<Record<"left" | "top" | "width" | "height", number>>,
): void {
  for (const [name, value] of Object.entries(at)) element.style.setProperty(name, `${value}px`);
}
