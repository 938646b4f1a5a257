/** Puts a scene on the layers of a chart: SVG, and a canvas where there are many marks. */

import { paint, Sprites } from "./canvas";
import type { Frame } from "./frame";
import type { Item } from "./items";
import { fixedColours, type Ground, pageColours } from "./look";
import { batched } from "./marks";
import type { Scene } from "./scene";
import { definitions, svgOf } from "./svg";

export class Layers {
  #sprites: { ground: Ground; made: Sprites } | null = null;

  constructor(
    private readonly frame: Frame,
    private readonly name: string,
  ) {}

  /** Draws all but what is pointed at. */
  draw(scene: Scene, isOnCanvas: boolean, ground: Ground): void {
    this.#size(scene);
    this.fill("below", [...scene.below, ...(isOnCanvas ? [] : scene.markItems())], scene);
    this.frame.canvas.hidden = !isOnCanvas;
    if (isOnCanvas) this.#paint(scene, ground);
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

  #paint(scene: Scene, ground: Ground): void {
    const { canvas } = this.frame;
    const { margins, plane } = scene;
    const scale = devicePixelRatio || 1;
    const { width, height } = sizeOf(scene);
    const context = canvas.getContext("2d");
    if (!context) return;
    const [across, down] = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== across || canvas.height !== down) {
      canvas.width = across;
      canvas.height = down;
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, across, down);
    context.setTransform(scale, 0, 0, scale, margins.left * scale, margins.top * scale);
    paint(context, batched(scene.markItems()), this.#spritesFor(ground, scale), plane);
  }

  #spritesFor(ground: Ground, scale: number): Sprites {
    const kept = this.#sprites;
    if (kept?.ground === ground && kept.made.scale === scale) return kept.made;
    const made = new Sprites(fixedColours(ground), scale);
    this.#sprites = { ground, made };
    return made;
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
