import { describe, expect, test } from "vitest";
import { formatOf, ticksIn } from "../../src/chart/ticks";
import type { Axis } from "../../src/document";
import { chart } from "./charts";

const axis = (ticks: Axis["ticks"], more: Partial<Axis> = {}): Axis => ({
  label: "",
  limits: [0, 1],
  scale: "log",
  is_slanted: false,
  ticks,
  ...more,
});

describe("the ticks of a whole axis", () => {
  test("are those that Python wrote", () => {
    const { y } = chart();
    expect(ticksIn(y, y.limits, 9)).toEqual(y.ticks);
  });

  test("are fewer where there is no room", () => {
    const { x } = chart();
    expect(ticksIn(x, x.limits, 3).map(([, text]) => text)).toEqual(["0.01", "1", "100"]);
  });

  test("of rows are never fewer", () => {
    const rows = axis(
      [
        [0, "a"],
        [-1, "b"],
        [-2, "c"],
      ],
      { scale: "rows", limits: [-2.5, 0.5] },
    );
    expect(ticksIn(rows, rows.limits, 2)).toHaveLength(3);
  });
});

describe("the ticks of a part", () => {
  test("go on in the prefixes of the whole", () => {
    const { y } = chart();
    expect(ticksIn(y, [2e7, 3e8], 9).map(([, text]) => text)).toEqual([
      "20 M",
      "50 M",
      "100 M",
      "200 M",
    ]);
  });

  test("are linear within less than a factor of five", () => {
    const { y } = chart();
    const texts = ticksIn(y, [9.9e8, 1.02e9], 5).map(([, text]) => text);
    expect(texts).toEqual(["990 M", "1 G", "1.01 G", "1.02 G"]);
  });

  test("are told apart however close one looks", () => {
    const { x } = chart();
    const texts = ticksIn(x, [1, 1.0001], 6).map(([, text]) => text);
    expect(new Set(texts).size).toBe(texts.length);
    expect(texts.length).toBeGreaterThan(2);
  });

  test("of names are the names in sight", () => {
    const named = axis(
      [
        [1, "a"],
        [2, "b"],
        [3, "c"],
      ],
      { limits: [1, 3] },
    );
    expect(ticksIn(named, [1.5, 2.5], 9)).toEqual([[2, "b"]]);
  });
});

describe("how ticks are written", () => {
  test.each([
    [
      [
        [1e6, "1 M"],
        [1e9, "1 G"],
      ],
      2.5e12,
      "2.5 T",
    ],
    [
      [
        [1e-9, "1 ns"],
        [1e-6, "1 µs"],
      ],
      2e-3,
      "2 ms",
    ],
    [
      [
        [1024, "1 KiB"],
        [1048576, "1 MiB"],
      ],
      3 * 2 ** 30,
      "3 GiB",
    ],
    [
      [
        [0.5, "50 %"],
        [1, "100 %"],
      ],
      0.125,
      "12.5 %",
    ],
    [
      [
        [0, "0.0"],
        [0.2, "0.2"],
      ],
      0.1,
      "0.1",
    ],
    [
      [
        [1, "1"],
        [10, "10"],
      ],
      1e-7,
      "1e-7",
    ],
    [
      [
        [2, "2 s"],
        [4, "4 s"],
      ],
      0.003,
      "3 ms",
    ],
  ] as const)("%j goes on with %d as %s", (ticks, value, text) => {
    expect(formatOf(axis(ticks))?.(value, 4)).toBe(text);
  });

  test.each([
    [[[1, "a"]]],
    [[[0, "0"]]],
    [[]],
    [
      [
        [1, "1 G"],
        [2, "2 G"],
        [3, "5 M"],
      ],
    ],
  ] as const)("%j is written in a way of its own", (ticks) =>
    expect(formatOf(axis(ticks))).toBeNull());
});
