import { describe, expect, test } from "vitest";
import { History } from "../../src/chart/history";
import { pannedBy, within, zoomedAt } from "../../src/chart/moves";
import {
  at,
  between,
  isSameWindow,
  type Plane,
  panned,
  rightLimits,
  shareOf,
  valueAt,
  wholeWindow,
  widenedTo,
  zoomed,
} from "../../src/chart/scales";
import { chart } from "./charts";

const { x: log } = chart();
const linear = { ...log, scale: "linear", limits: [0, 10] } as const;
const plane: Plane = { chart: chart(), window: wholeWindow(chart()), width: 400, height: 300 };

describe("places", () => {
  test("on a logarithmic axis equal ratios are equally far", () => {
    expect(shareOf(log, 0.01, log.limits)).toBe(0);
    expect(shareOf(log, 1, log.limits)).toBeCloseTo(0.5, 12);
    expect(shareOf(log, 10, log.limits)).toBeCloseTo(0.75, 12);
    expect(at(plane, [1, 1e9])).toEqual([200, 300]);
  });

  test("what has no logarithm is far below", () => {
    expect(shareOf(log, 0, log.limits)).toBeLessThan(-10);
    expect(shareOf(log, -1, log.limits)).toBeLessThan(-10);
    expect(shareOf(linear, -10, linear.limits)).toBe(-1);
  });

  test("a value is found again at its share", () => {
    for (const axis of [log, linear])
      for (const share of [-0.5, 0.1, 0.9, 1.5])
        expect(shareOf(axis, valueAt(axis, share, axis.limits), axis.limits)).toBeCloseTo(share, 9);
  });

  test("a right axis shows the same part as the left one", () => {
    const right = { ...linear, limits: [0, 100] } as const;
    // From 10 M to 100 M is the middle third.
    const [low, high] = rightLimits(chart(), right, { x: log.limits, y: [1e7, 1e8] });
    expect(low).toBeCloseTo(100 / 3, 9);
    expect(high).toBeCloseTo(200 / 3, 9);
  });
});

describe("zooming", () => {
  test("keeps what is under the pointer in its place", () => {
    const [low, high] = zoomed(log, log.limits, 2, 0.25);
    // 0.1 is at a quarter: half of the four decades around it.
    expect(low).toBeCloseTo(10 ** -1.5, 9);
    expect(high).toBeCloseTo(10 ** 0.5, 9);
    expect(shareOf(log, 0.1, [low, high])).toBeCloseTo(0.25, 9);
  });

  test("ends at bounds however long one turns the wheel", () => {
    let limits = log.limits;
    for (let turn = 0; turn < 100; turn++) limits = zoomed(log, limits, 3, 0.5);
    expect(Math.log10(limits[1] / limits[0])).toBeCloseTo(4e-4, 9);
    for (let turn = 0; turn < 100; turn++) limits = zoomed(log, limits, 1 / 3, 0.5);
    expect(Math.log10(limits[1] / limits[0])).toBeCloseTo(16, 9);
  });

  test("a rectangle shows what lies in it, from any corner", () => {
    const one = within(plane, [100, 0], [300, 100]);
    expect(one.x[0]).toBeCloseTo(0.1, 9);
    expect(one.x[1]).toBeCloseTo(10, 9);
    expect(one.y[0]).toBeCloseTo(1e8, 0);
    expect(one.y[1]).toBe(1e9);
    expect(within(plane, [300, 100], [100, 0])).toEqual(one);
    expect(within(plane, [-50, -50], [900, 900])).toEqual(wholeWindow(chart()));
  });

  test("rows stay where they are", () => {
    const rows = chart({ y: { ...log, scale: "rows", limits: [-1.5, 0.5] } });
    const of = { ...plane, chart: rows, window: wholeWindow(rows) };
    expect(zoomedAt(of, 2, [0, 0]).y).toEqual([-1.5, 0.5]);
    expect(pannedBy(of, [10, 10]).y).toEqual([-1.5, 0.5]);
    expect(within(of, [0, 0], [200, 10]).y).toEqual([-1.5, 0.5]);
  });
});

describe("moving", () => {
  test("by a quarter to the right shows what lies a quarter to the left", () => {
    const { x, y } = pannedBy(plane, [100, 0]);
    expect(x[0]).toBeCloseTo(1e-3, 12);
    expect(x[1]).toBeCloseTo(10, 9);
    expect(y).toEqual([1e6, 1e9]);
  });

  test("some of the plane stays in sight", () => {
    let limits = linear.limits as readonly [number, number];
    for (let step = 0; step < 50; step++) limits = panned(linear, limits, 0.5);
    expect(limits[0]).toBeLessThan(10);
    for (let step = 0; step < 99; step++) limits = panned(linear, limits, -0.5);
    expect(limits[1]).toBeGreaterThan(0);
  });

  test("a window is widened to places outside, and only there", () => {
    const window = { x: [0.1, 10], y: [1e7, 1e8] } as const;
    const wide = widenedTo(chart(), window, [[50, 5e7]]);
    expect(wide.x[1]).toBeGreaterThan(50);
    expect(wide.x[0]).toBe(0.1);
    expect(wide.y).toEqual([1e7, 1e8]);
    expect(between(log, 0, 1, log.limits)).toEqual(log.limits);
  });
});

test("steps of one gesture are taken back together, others one by one", () => {
  const whole = wholeWindow(chart());
  const to = (x: number) => ({ ...whole, x: [0.01, x] as const });
  const history = new History(whole);
  history.go(to(50), "wheel", 0);
  history.go(to(40), "wheel", 100);
  history.go(to(30), "wheel", 2000);
  history.go(to(20));
  history.go(to(20));

  history.undo();
  expect(history.window).toEqual(to(30));
  history.undo();
  expect(history.window).toEqual(to(40));
  history.undo();
  expect(isSameWindow(history.window, whole)).toBe(true);
  history.undo();
  expect(history.window).toEqual(whole);
});
