/** Puts a scene on the layers of a chart: SVG, and canvases where there are many marks. */

import { paintMarks, Sprites } from "./canvas";
import type { Frame } from "./frame";
import type { Item } from "./items";
import { fixedColours, type Ground, pageColours } from "./look";
import { FAINT, type PlacedMark } from "./marks";
import { isSameWindow, type Plane } from "./scales";
import type { Scene } from "./scene";
import { definitions, svgOf } from "./svg";

/** What a canvas shows: it is painted again only when that changes. */
interface Painted {
  marks: readonly PlacedMark[];
  sprites: Sprites;
  plane: Plane;
  width: number;
  height: number;
}

export class Layers {
  #sprites: { ground: Ground; made: Sprites } | null = null;
  readonly #painted = new Map<HTMLCanvasElement, Painted>();

  constructor(
    private readonly frame: Frame,
    private readonly name: string,
  ) {}

  /** Draws all but what is pointed at. */
  draw(scene: Scene, isOnCanvas: boolean, ground: Ground): void {
    this.#size(scene);
    this.fill("below", [...scene.below, ...(isOnCanvas ? [] : scene.markItems())], scene);
    const { canvas, bright } = this.frame;
    canvas.hidden = !isOnCanvas;
    bright.hidden = !isOnCanvas;
    if (isOnCanvas) this.#paintMarks(scene, ground);
    this.fill("above", scene.above, scene);
  }

  fill(layer: "below" | "above" | "pointing", items: readonly Item[], { plane }: Scene): void {
    const { width, height } = plane;
    const writing = { colour: pageColours, name: `${this.name}-${layer}` };
    this.frame[layer].innerHTML =
      definitions(items, { ...writing, width, height }) + svgOf(items, writing);
  }

  #size(scene: Scene): void {
    const { below, above, pointing, stage, plot, canvas, bright } = this.frame;
    const { plane, margins } = scene;
    const { width, height } = sizeOf(scene);
    stage.style.height = `${height}px`;
    for (const svg of [below, above, pointing]) {
      svg.setAttribute("width", String(width));
      svg.setAttribute("height", String(height));
      svg.setAttribute("viewBox", `${-margins.left} ${-margins.top} ${width} ${height}`);
    }
    place(plot, { left: margins.left, top: margins.top, width: plane.width, height: plane.height });
    for (const each of [canvas, bright]) place(each, { left: 0, top: 0, width, height });
  }

  /** Paints all marks, dims them while some are selected, and paints those over them. */
  #paintMarks(scene: Scene, ground: Ground): void {
    const { canvas, bright } = this.frame;
    const isDimmed = scene.marks.some(({ isFaint }) => isFaint);
    canvas.style.opacity = isDimmed ? String(FAINT) : "";
    this.#paint(canvas, scene.marks, scene, ground);
    this.#paint(
      bright,
      isDimmed ? scene.marks.filter(({ isFaint }) => !isFaint) : [],
      scene,
      ground,
    );
  }

  #paint(
    canvas: HTMLCanvasElement,
    marks: readonly PlacedMark[],
    scene: Scene,
    ground: Ground,
  ): void {
    const { margins, plane } = scene;
    const scale = devicePixelRatio || 1;
    const sprites = this.#spritesFor(ground, scale);
    const { width, height } = sizeOf(scene);
    const now = { marks, sprites, plane, width, height };
    if (isSame(this.#painted.get(canvas), now)) return;
    const context = canvas.getContext("2d");
    if (!context) return;
    this.#painted.set(canvas, now);
    // Its size empties a canvas.
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    context.setTransform(scale, 0, 0, scale, margins.left * scale, margins.top * scale);
    paintMarks(context, marks, scene, sprites);
  }

  #spritesFor(ground: Ground, scale: number): Sprites {
    const kept = this.#sprites;
    if (kept?.ground === ground && kept.made.scale === scale) return kept.made;
    const made = new Sprites(fixedColours(ground), scale);
    this.#sprites = { ground, made };
    return made;
  }
}

function isSame(one: Painted | undefined, other: Painted): boolean {
  return (
    one !== undefined &&
    one.sprites === other.sprites &&
    one.width === other.width &&
    one.height === other.height &&
    isSameWindow(one.plane.window, other.plane.window) &&
    one.marks.length === other.marks.length &&
    one.marks.every((placed, at) => isSamePlace(placed, other.marks[at]))
  );
}

function isSamePlace(one: PlacedMark, other: PlacedMark | undefined): boolean {
  return (
    one.mark === other?.mark && one.x === other.x && one.y === other.y && one.size === other.size
  );
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
