import { describe, expect, test } from "vitest";
import { paintMarks, Sprites } from "../../src/chart/canvas";
import { wholeWindow } from "../../src/chart/scales";
import { sceneOf } from "../../src/chart/scene";
import { initialState } from "../../src/state";
import { chart, mark, view } from "./charts";

/** Returns what is filled on a canvas: the colour and the rectangle of each. */
function filled(of: ReturnType<typeof chart>) {
  const scene = sceneOf({
    chart: of,
    view: view(of),
    state: initialState(view(of)),
    hidden: new Set(),
    window: wholeWindow(of),
    width: 600,
    measure: (text, size) => text.length * size * 0.5,
    moving: null,
  });
  const rectangles: [string, number, number, number, number][] = [];
  const pictures: number[][] = [];
  const context = {
    fillStyle: "",
    save: () => undefined,
    restore: () => undefined,
    beginPath: () => undefined,
    rect: () => undefined,
    clip: () => undefined,
    fillRect(x: number, y: number, width: number, height: number) {
      rectangles.push([this.fillStyle, x, y, width, height]);
    },
    drawImage: (_: unknown, ...at: number[]) => pictures.push(at),
  };
  class Made extends Sprites {
    override of() {
      return { image: document.createElement("canvas"), reach: 5 };
    }
  }
  paintMarks(
    context as unknown as CanvasRenderingContext2D,
    scene.marks,
    scene,
    new Made((paint) => paint, 2),
  );
  return { scene, rectangles, pictures };
}

describe("marks on a canvas", () => {
  test("have their intervals as bars with caps, in their colours", () => {
    const { scene, rectangles } = filled(
      chart({
        marks: [
          mark([1, 1e8], { ink: 1, x_interval: [0.1, 10] }),
          mark([1, 1e8], { ink: 2, y_interval: [1e7, 1e9] }),
        ],
      }),
    );
    const { width, height } = scene.plane;
    const [across, , , upright] = rectangles;
    expect(rectangles.map(([ink]) => ink)).toEqual(["1", "1", "1", "2", "2", "2"]);
    expect(across?.[1]).toBeCloseTo(width / 4, 6);
    expect(across?.[3]).toBeCloseTo(width / 2, 6);
    expect(Math.abs(upright?.[4] ?? 0)).toBeCloseTo((height * 2) / 3, 6);
  });

  test("have one picture each, on whole dots of the screen", () => {
    const marks = Array.from({ length: 30 }, (_, i) => mark([1 + i, 1e7 + i * 1e6]));
    const { pictures, rectangles } = filled(chart({ marks }));
    expect(pictures).toHaveLength(30);
    expect(rectangles).toEqual([]);
    expect(pictures.flatMap(([x = 0.1, y = 0.1]) => [2 * x, 2 * y]).every(Number.isInteger)).toBe(
      true,
    );
  });
});
