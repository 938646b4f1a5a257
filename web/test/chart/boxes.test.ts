import { describe, expect, test } from "vitest";
import {
  along,
  around,
  box,
  clippedTo,
  corners,
  crosses,
  holds,
  lead,
  meets,
  overlaps,
  Room,
} from "../../src/chart/boxes";
import { filtered } from "../../src/chart/filter";
import { sizesFor } from "../../src/chart/look";
import { Naming } from "../../src/chart/naming";
import { type Plane, wholeWindow } from "../../src/chart/scales";
import type { Chart } from "../../src/document";
import { initialState } from "../../src/state";
import { area, bar, chart, label, line, mark, measure, view } from "./charts";

describe("rectangles", () => {
  test("that touch share no area", () => {
    expect(overlaps(box([0, 0], 2, 2), box([2, 0], 2, 2))).toBe(false);
    expect(overlaps(box([0, 0], 2, 2), box([1.9, 0], 2, 2))).toBe(true);
  });

  test("turned by 45 degrees slip between others", () => {
    // Its corner reaches to 1.41 along the axes, but its side passes the corner (1, 1) at 1.41.
    const turned = box([2.1, 2.1], 2, 2, Math.PI / 4);
    expect(overlaps(box([0, 0], 2, 2), turned)).toBe(false);
    expect(overlaps(box([0, 0], 2, 2), box([2.1, 2.1], 2.4, 2.4))).toBe(true);
  });

  test("have their corners where they belong", () => {
    const [lower] = corners(box([0, 0], 4, 2, Math.PI / 2));
    expect(lower?.[0]).toBeCloseTo(1, 12);
    expect(lower?.[1]).toBeCloseTo(-2, 12);
  });

  test("are met by lines through them, not by lines past them", () => {
    expect(
      meets(box([0, 0], 2, 2), [
        [-5, 0.5],
        [5, 0.5],
      ]),
    ).toBe(true);
    expect(
      meets(box([0, 0], 2, 2), [
        [-5, 1.5],
        [5, 1.5],
      ]),
    ).toBe(false);
    expect(
      meets(box([0, 0], 2, 2), [
        [0, 2.5],
        [2.5, 0],
      ]),
    ).toBe(false);
  });

  test("a convex polygon holds what is in it", () => {
    const triangle = [
      [0, 0],
      [4, 0],
      [0, 4],
    ] as const;
    expect(holds(triangle, [1, 1])).toBe(true);
    expect(holds(triangle, [3, 3])).toBe(false);
  });

  test("lines that cross do, lines beside each other do not", () => {
    expect(
      crosses(
        [
          [0, 0],
          [2, 2],
        ],
        [
          [0, 2],
          [2, 0],
        ],
      ),
    ).toBe(true);
    expect(
      crosses(
        [
          [0, 0],
          [2, 2],
        ],
        [
          [0, 1],
          [1, 2],
        ],
      ),
    ).toBe(false);
  });

  test("the shortest way to a text ends at its side", () => {
    expect(lead([0, 0], box([10, 0], 4, 2))).toEqual([
      [0, 0],
      [8, 0],
    ]);
  });

  test("a line is cut at the frame", () => {
    expect(
      clippedTo(
        [
          [-10, 5],
          [30, 5],
        ],
        20,
        10,
      ),
    ).toEqual([
      [0, 5],
      [20, 5],
    ]);
    expect(
      clippedTo(
        [
          [-10, 15],
          [30, 15],
        ],
        20,
        10,
      ),
    ).toBeNull();
    expect(
      clippedTo(
        [
          [0, -10],
          [20, 10],
        ],
        20,
        10,
      ),
    ).toEqual([
      [10, 0],
      [20, 10],
    ]);
  });
});

describe("room", () => {
  test("is taken once", () => {
    const room = new Room(100, 100);
    const place = box([50, 50], 20, 10);
    expect(room.place([place])).toBe(place);
    expect(room.place([place])).toBeNull();
  });

  test("ends at the frame", () => {
    expect(new Room(100, 100).place([box([95, 50], 20, 10)])).toBeNull();
    expect(new Room(100, 100).place([box([90, 50], 20, 10)])).not.toBeNull();
  });

  test("is better where no line is", () => {
    const room = new Room(100, 100);
    room.lines.push({
      segment: [
        [0, 50],
        [100, 50],
      ],
      cost: 3,
    });
    const [on, off] = [box([50, 50], 20, 10), box([50, 70], 20, 10)];
    expect(room.place([on, off])).toBe(off);
  });

  test("a costly line is never hidden", () => {
    const room = new Room(100, 100);
    room.lines.push({
      segment: [
        [0, 50],
        [100, 50],
      ],
      cost: 6,
    });
    expect(room.place([box([50, 50], 20, 10)])).toBeNull();
  });

  test("along a line texts stand in its direction, above it first", () => {
    const [first] = along(
      [
        [0, 0],
        [100, 100],
      ],
      { width: 20, height: 10, offsets: [6, -6], fromRight: false },
    );
    expect(first?.angle).toBeCloseTo(Math.PI / 4, 12);
    // 10 along the line and 6 to its left: (10 - 6, 10 + 6) / sqrt 2.
    expect(first?.centre[0]).toBeCloseTo(4 / Math.SQRT2, 9);
    expect(first?.centre[1]).toBeCloseTo(16 / Math.SQRT2, 9);
  });

  test("around a point texts begin above it", () => {
    expect(around([0, 0], 30, 10, 8)[0]).toEqual([0, 11]);
  });
});

function named(of: Chart, width = 400, height = 300): Naming {
  const plane: Plane = { chart: of, window: wholeWindow(of), width, height };
  const shown = filtered(of, view(of), initialState(view(of)), new Set());
  return new Naming(plane, shown, sizesFor(width), measure).placeAll();
}

describe("labels", () => {
  const crowd = Array.from({ length: 40 }, (_, index) =>
    mark([0.5 * 1.08 ** (index % 7), 1e7 * 1.3 ** Math.floor(index / 7)], {
      label: label(`function ${index}`),
    }),
  );

  test("never lie on each other, on marks, or outside", () => {
    const { placed } = named(chart({ marks: crowd }));
    expect(placed.length).toBeGreaterThan(5);
    placed.forEach(({ box: one }, index) => {
      for (const { box: other } of placed.slice(index + 1))
        expect(overlaps(one, other)).toBe(false);
      for (const [x, y] of corners(one)) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x).toBeLessThanOrEqual(400);
        expect(y).toBeGreaterThanOrEqual(0);
        expect(y).toBeLessThanOrEqual(300);
      }
    });
  });

  test("are placed or said to be left out, each of them", () => {
    const { placed, leftOut } = named(chart({ marks: crowd }), 150, 100);
    const texts = new Set([...placed.map(({ text }) => text), ...leftOut]);
    expect(leftOut.length).toBeGreaterThan(0);
    expect(texts.size).toBe(40);
  });

  test("of no room are shortened, optional ones are not missed", () => {
    const long = label("a very long name indeed, wider than everything", { short: "short" });
    const { placed, leftOut } = named(chart({ marks: [mark([1, 1e7], { label: long })] }), 90, 100);
    expect(placed.map(({ text }) => text)).toEqual(["short"]);
    expect(leftOut).toEqual([long.text]);
    const optional = { ...long, short: "", is_optional: true };
    const none = named(chart({ marks: [mark([1, 1e7], { label: optional })] }), 90, 100);
    expect([none.placed, none.leftOut]).toEqual([[], []]);
  });

  test("of roofs are turned with them", () => {
    const roof = line(
      [
        [0.01, 1e6],
        [10, 1e9],
      ],
      { label: label("DRAM 10 GB/s") },
    );
    const [{ box: found } = { box: box([0, 0], 0, 0) }] = named(chart({ lines: [roof] })).placed;
    // Three decades up over 300 pixels, three of four across over 300.
    expect(found.angle).toBeCloseTo(Math.PI / 4, 9);
  });

  test("of what is not in sight are not missed", () => {
    const { placed, leftOut } = named(
      chart({
        lines: [
          line(
            [
              [0.01, 1e12],
              [100, 1e12],
            ],
            { label: label("far roof") },
          ),
        ],
        marks: [mark([1e5, 1e7], { label: label("far mark") })],
      }),
    );
    expect([placed, leftOut]).toEqual([[], []]);
  });

  test("of areas stand in them, those of bars only where they fit", () => {
    const half = area(
      [
        [0.01, 1e6],
        [1, 1e6],
        [1, 1e9],
        [0.01, 1e9],
      ],
      { label: label("left\nhalf") },
    );
    const [placed] = named(chart({ areas: [half] })).placed;
    expect(placed?.text).toBe("left\nhalf");
    expect(placed?.area).toBe("compute");
    expect(Math.max(...corners(placed?.box ?? box([999, 0], 0, 0)).map(([x]) => x))).toBeLessThan(
      200,
    );
    const { y, x } = chart();
    const rows = chart({
      x: { ...x, scale: "linear", limits: [0, 100] },
      y: { ...y, scale: "rows", limits: [-0.5, 0.5] },
      bars: [bar(0, 0, 90, { label: label("wide") }), bar(0, 90, 91, { label: label("narrow") })],
    });
    expect(named(rows).placed.map(({ text }) => text)).toEqual(["wide"]);
    expect(named(rows).leftOut).toEqual([]);
  });
});
