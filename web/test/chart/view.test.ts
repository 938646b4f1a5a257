import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { drawChart } from "../../src/chart";
import type { Chart, View } from "../../src/document";
import { initialState, Store } from "../../src/state";
import { chart, entry, line, mark, subject, view } from "./charts";

const marks = ["l1", "dram"].map((level, index) =>
  mark([index + 1, 1e8], { name: `f over ${level}`, subject: "f", tags: { level } }),
);
const of = chart({
  marks: [...marks, mark([50, 1e7], { name: "g", subject: "g", ink: 1, tags: { level: "dram" } })],
  lines: [
    line(
      [
        [0.01, 1e8],
        [100, 1e8],
      ],
      { name: "peak", summary: "100 Mflop/s (95 to 105)" },
    ),
  ],
  key: [entry("peaks", { line: "roof" }), entry("intensity over the traffic of:")],
  notes: ["a note"],
});
const fact = {
  key: "time",
  name: "T, runtime",
  text: "2 s (1.9 s to 2.1 s)",
  how: "",
  inputs: [],
  samples: null,
  samples_unit: "",
  source: "",
};
const seen = view(of, {
  controls: [{ tag: "level", title: "", exclusive: false, initial: ["dram"], options: [] }],
  subjects: [
    subject("f", {
      facts: [{ ...fact, key: "verdict", name: "verdict", text: "Bound by DRAM" }, fact],
    }),
    subject("g", { name: "<b>g</b>" }),
  ],
});

let host: HTMLElement;
let frames: FrameRequestCallback[];

beforeEach(() => {
  host = document.createElement("div");
  document.body.append(host);
  frames = [];
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined }));
  vi.stubGlobal("requestAnimationFrame", (act: FrameRequestCallback) => frames.push(act));
  vi.stubGlobal("cancelAnimationFrame", () => {
    frames = [];
  });
  // jsdom measures and paints nothing.
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
});

afterEach(() => {
  host.remove();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function open(what: Chart = of, within: View = seen) {
  const store = new Store(initialState(within));
  const drawn = drawChart(host, what, within, store);
  const next = () => {
    for (const act of frames.splice(0)) act(performance.now());
  };
  const press = (key: string, more: KeyboardEventInit = {}) => {
    const target = host.querySelector(".rp-stop[tabindex='0']") ?? host;
    target.dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }),
    );
    next();
  };
  const ticks = () =>
    [...host.querySelectorAll(".rp-below text")].map(({ textContent }) => textContent);
  const stopNames = () =>
    [...host.querySelectorAll(".rp-stop")].map((stop) => stop.getAttribute("aria-label"));
  const focused = () => document.activeElement?.getAttribute("aria-label");
  const text = (selector: string) => host.querySelector(selector)?.textContent ?? "";
  return { store, drawn, next, press, ticks, stopNames, focused, text };
}

describe("the keyboard", () => {
  test("goes through points and roofs, says each, and shows all that is known", () => {
    const { press, focused, text, store } = open();
    host.querySelector<HTMLElement>(".rp-stop[tabindex='0']")?.focus();
    expect(focused()).toContain("f over dram");
    expect(store.get().hovered).toBe("f");
    expect(text("[role=status]")).toContain("T, runtime 2 s (1.9 s to 2.1 s)");
    expect(text("[role=tooltip]")).toContain("Bound by DRAM");
    press("ArrowRight");
    expect(focused()).toContain("g");
    press("ArrowRight");
    expect(focused()).toBe("peak: 100 Mflop/s (95 to 105)");
    press("ArrowRight");
    expect(focused()).toContain("f over dram");
    press("End");
    expect(focused()).toContain("peak");
  });

  test("joins, selects, several with Ctrl, and clears", () => {
    const { press, store, text, stopNames } = open();
    host.querySelector<HTMLElement>(".rp-stop[tabindex='0']")?.focus();
    press("Enter");
    expect(store.get().joined).toEqual(["f"]);
    expect(text("[role=status]")).toContain("2 points joined");
    expect(stopNames().join()).toContain("f over l1");
    press(" ");
    expect(store.get().selected).toEqual(["f"]);
    press("End");
    press("ArrowLeft");
    press(" ", { ctrlKey: true });
    expect(store.get().selected).toEqual(["f", "g"]);
    press("Escape");
    expect([store.get().selected, store.get().joined]).toEqual([[], []]);
  });

  test("zooms, moves, undoes and shows all", () => {
    const { press } = open();
    const drawing = () => host.querySelector(".rp-below")?.innerHTML;
    const first = drawing();
    press("+");
    const closer = drawing();
    expect(closer).not.toEqual(first);
    press("ArrowRight", { shiftKey: true });
    expect(drawing()).not.toEqual(closer);
    press("u");
    expect(drawing()).toEqual(closer);
    press("-");
    press("0");
    expect(drawing()).toEqual(first);
  });

  test("goes through many points, of which one at a time has an element", () => {
    const many = chart({
      marks: Array.from({ length: 500 }, (_, index) =>
        mark([0.1 + index * 0.1, 1e8], { name: `point ${index}` }),
      ),
    });
    const { press, focused, stopNames } = open(many, view(many));
    expect(stopNames()).toEqual([]);
    host.querySelector<HTMLElement>(".rp-plot")?.focus();
    expect(focused()).toBe("point 0");
    press("ArrowRight");
    expect(focused()).toBe("point 1");
    press("End");
    expect(stopNames()).toEqual(["point 499"]);
    press("+");
    // Fewer are in sight now, so that each has one.
    expect(stopNames().length).toBeGreaterThan(1);
    expect(focused()).toMatch(/^point /);
  });

  test("leaves keys of the browser alone", () => {
    const { press, ticks } = open();
    const first = ticks();
    press("+", { ctrlKey: true });
    press("ArrowLeft", { altKey: true });
    expect(ticks()).toEqual(first);
  });
});

describe("what a reader chooses", () => {
  test("is drawn once a frame", () => {
    const { store, next, stopNames } = open();
    store.set({ chosen: { level: ["l1"] } });
    store.set({ found: new Set(["f"]) });
    expect(frames).toHaveLength(1);
    next();
    expect(stopNames()).toEqual([
      "f over l1; verdict Bound by DRAM; T, runtime 2 s (1.9 s to 2.1 s)",
      "peak: 100 Mflop/s (95 to 105)",
    ]);
  });

  test("entries of the key hide what they speak of, others cannot be pressed", () => {
    const { stopNames } = open();
    const [button, ...others] = host.querySelectorAll<HTMLElement>(".rp-key button");
    expect(others).toEqual([]);
    button?.click();
    expect(button?.getAttribute("aria-pressed")).toBe("false");
    expect(stopNames().join()).not.toContain("peak");
    button?.click();
    expect(stopNames().join()).toContain("peak");
  });

  test("points outside of what is seen are named at a button that shows them", () => {
    const { press, text } = open();
    expect(text(".rp-badges")).toBe("");
    for (let turn = 0; turn < 4; turn++) press("+");
    expect(text(".rp-badge")).toContain("outside: ");
    expect(text(".rp-badge")).toContain("g");
    host.querySelector<HTMLElement>(".rp-badge")?.click();
    for (const act of frames.splice(0)) act(0);
    expect(text(".rp-badges")).toBe("");
  });

  test("nothing is left after the chart is removed", () => {
    const { drawn, store } = open();
    drawn.remove();
    store.set({ chosen: { level: ["l1"] } });
    expect(host.childElementCount).toBe(0);
    expect(frames).toEqual([]);
  });
});

describe("what the chart says", () => {
  test("names of users are text, never markup", () => {
    const nasty = chart({
      title: "<img src=x onerror=alert(1)>",
      marks: [mark([1, 1e8], { name: "<i>x</i>", subject: "g" })],
      key: [entry("<b>key</b>", { line: "roof" })],
      notes: ["<u>note</u>"],
    });
    open(nasty, view(nasty, { subjects: seen.subjects }));
    host.querySelector<HTMLElement>(".rp-stop")?.focus();
    expect(host.querySelector("img, i, b, u")).toBeNull();
    expect(host.textContent).toContain("<u>note</u>");
  });

  test("a chart without anything on it is drawn", () => {
    const empty = chart();
    const { stopNames, ticks, press } = open(empty, view(empty));
    expect(stopNames()).toEqual([]);
    expect(ticks()).toContain("10 M");
    press("ArrowRight");
    press("Enter");
  });

  test("two charts on a page share no names", () => {
    open();
    const other = document.createElement("div");
    host.after(other);
    drawChart(other, of, seen, new Store(initialState(seen)));
    const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    other.remove();
  });
});
