import { describe, expect, test } from "vitest";
import { svgFile, wrapped } from "../../src/chart/file";
import { description } from "../../src/chart/frame";
import { Hits, stops } from "../../src/chart/hit";
import { fixedColours } from "../../src/chart/look";
import { isData } from "../../src/chart/marks";
import { wholeWindow } from "../../src/chart/scales";
import { type Scene, sceneOf } from "../../src/chart/scene";
import { svgOf } from "../../src/chart/svg";
import { symbol } from "../../src/chart/symbols";
import type { Chart, Entry, Shape } from "../../src/document";
import look from "../../src/look.json";
import { initialState, type ViewState } from "../../src/state";
import { area, bar, chart, entry, label, line, mark, measure, view } from "./charts";

function scene(
  of: Chart,
  more: {
    state?: Partial<ViewState>;
    hidden?: Entry[];
    window?: Scene["plane"]["window"];
    width?: number;
  } = {},
): Scene {
  const seen = view(of);
  return sceneOf({
    chart: of,
    view: seen,
    state: { ...initialState(seen), ...more.state },
    hidden: new Set(more.hidden),
    window: more.window ?? wholeWindow(of),
    width: more.width ?? 600,
    measure,
    moving: null,
  });
}

/** Numbers from 0 to 1, always the same. */
function* random(): Generator<number, never> {
  for (let state = 42; ; ) {
    state = (state * 1103515245 + 12345) % 2147483648;
    yield state / 2147483648;
  }
}

describe("what lies under a pointer", () => {
  const numbers = random();
  const next = () => numbers.next().value;
  const marks = Array.from({ length: 500 }, (_, index) =>
    mark([10 ** (4 * next() - 2), 10 ** (6 + 3 * next())], {
      name: `m${index}`,
      size: 0.5 + next(),
    }),
  );

  test("is the mark that a search through all of them finds", () => {
    const drawn = scene(chart({ marks }));
    const hits = new Hits(drawn);
    let found = 0;
    for (let turn = 0; turn < 300; turn++) {
      const [x, y] = [next() * drawn.plane.width, next() * drawn.plane.height];
      const near = drawn.marks
        .map((placed) => ({ placed, away: Math.hypot(placed.x - x, placed.y - y) }))
        .filter(({ placed, away }) => away <= placed.size / 2 + 6)
        .sort((one, other) => one.away / one.placed.size - other.away / other.placed.size);
      const hit = hits.at(x, y);
      expect(hit?.thing.name).toBe(near[0]?.placed.mark.name);
      found += hit ? 1 : 0;
    }
    expect(found).toBeGreaterThan(50);
  });

  test("is a mark before a line, and a line before nothing", () => {
    const roof = line(
      [
        [0.01, 1e8],
        [100, 1e8],
      ],
      { name: "roof" },
    );
    const drawn = scene(chart({ lines: [roof], marks: [mark([1, 1e8], { name: "mark" })] }));
    const hits = new Hits(drawn);
    const [x, y] = [drawn.marks[0]?.x ?? 0, drawn.marks[0]?.y ?? 0];
    expect(hits.at(x, y)?.thing.name).toBe("mark");
    expect(hits.at(x + 100, y + 3)?.thing.name).toBe("roof");
    expect(hits.at(x + 100, y + 3)?.y).toBeCloseTo(y, 6);
    expect(hits.at(x + 100, y + 12)).toBeNull();
    expect(hits.at(x + 100, y + 12, 10)?.thing.name).toBe("roof");
  });

  test("is the bar that holds it", () => {
    const { x, y } = chart();
    const rows = chart({
      x: {
        ...x,
        scale: "linear",
        limits: [0, 10],
        ticks: [
          [0, "0"],
          [10, "10"],
        ],
      },
      y: {
        ...y,
        scale: "rows",
        limits: [-1.5, 0.5],
        ticks: [
          [0, "a"],
          [-1, "b"],
        ],
      },
      bars: [bar(0, 0, 5, { name: "first" }), bar(-1, 5, 10, { name: "second" })],
    });
    const drawn = scene(rows);
    const hits = new Hits(drawn);
    const { width, height } = drawn.plane;
    expect(hits.at(width * 0.25, height * 0.25)?.thing.name).toBe("first");
    expect(hits.at(width * 0.75, height * 0.75)?.thing.name).toBe("second");
    expect(hits.at(width * 0.75, height * 0.25)).toBeNull();
  });

  test("nameless things are passed over by the keyboard, parts of a roof are one stop", () => {
    const parts = [
      line([
        [0.01, 1e7],
        [1, 1e7],
      ]),
      line([
        [1, 1e7],
        [100, 1e7],
      ]),
    ];
    const drawn = scene(
      chart({
        lines: parts,
        marks: [mark([1, 1e8], { name: "" }), mark([2, 1e8]), mark([0.5, 1e8], { name: "left" })],
      }),
    );
    expect(stops(drawn).map(({ thing }) => thing.name)).toEqual(["left", "a mark", "a roof"]);
  });
});

describe("a scene", () => {
  test("keeps marks at an edge there, and tells which lie outside of a part", () => {
    const of = chart({
      marks: [
        mark([100, 1e8], { edge: "right", name: "no traffic" }),
        mark([50, 1e8], { name: "far" }),
      ],
    });
    const drawn = scene(of, { window: { x: [0.1, 1], y: [1e7, 1e9] } });
    expect(drawn.marks.map(({ mark: { name }, x }) => [name, x])).toEqual([
      ["no traffic", drawn.plane.width],
    ]);
    expect(drawn.outside.map(({ name }) => name)).toEqual(["far"]);
  });

  test("shows a mark beyond an edge there until its place is in sight", () => {
    const far = mark([100, 1e8], { edge: "right", beyond: [1e4, 1e8] });
    const first = scene(chart({ marks: [far] }));
    expect(first.marks.map(({ edge, x }) => [edge, x])).toEqual([["right", first.plane.width]]);
    expect(first.outside).toEqual([far]);
    const wide = scene(chart({ marks: [far] }), { window: { x: [1, 1e8], y: [1e6, 1e9] } });
    expect(wide.marks.map(({ edge, x }) => [edge, x])).toEqual([[null, wide.plane.width / 2]]);
    expect(wide.outside).toEqual([]);
  });

  test("sizes marks by their share only where asked", () => {
    const of = chart({ marks: [mark([1, 1e8], { size: 3 }), mark([2, 1e8], { size: 0.5 })] });
    const [large, small] = scene(of, { state: { bySize: true } }).marks;
    const [usual, same] = scene(of, { state: { bySize: false } }).marks;
    expect((large?.size ?? 0) / (usual?.size ?? 1)).toBeCloseTo(3, 12);
    expect(same?.size).toBe(small?.size);
  });

  test("draws intervals along both axes", () => {
    const of = chart({
      marks: [mark([1, 1e8], { x_interval: [0.1, 10], y_interval: [1e7, 1e9] })],
    });
    const drawn = scene(of);
    const [bars] = drawn.markItems();
    const { width, height } = drawn.plane;
    const d = bars?.kind === "path" ? bars.d : "";
    expect(d).toContain(`H${Math.round(width * 75) / 100}`);
    expect(d).toContain(`V0`);
    expect(d).toContain(`,${Math.round((height * 200) / 3) / 100}V0`);
  });

  test("draws a band where a line has an interval", () => {
    const roof = line(
      [
        [0.01, 1e8],
        [100, 1e8],
      ],
      { low: [1e7, 1e7], high: [1e9, 1e9] },
    );
    const { below, plane } = scene(chart({ lines: [roof] }));
    const band = below.find((item) => item.kind === "path" && item.opacity === look.band_alpha);
    const [w, y] = [
      Math.round(plane.width * 100) / 100,
      Math.round((plane.height * 200) / 3) / 100,
    ];
    expect(band).toMatchObject({ d: `M0,0L${w},0L${w},${y}L0,${y}Z`, fill: "ink" });
  });

  test("fits a telephone", () => {
    const { plane, margins } = scene(chart(), { width: 358 });
    expect(plane.width + margins.left + margins.right).toBeCloseTo(358, 9);
    expect(plane.width).toBeGreaterThan(230);
  });

  test("shortens long names of rows where there is no room for them", () => {
    const name = "a very long name of an action on the pipeline, and more";
    const { y } = chart();
    const rows = chart({
      y: { ...y, scale: "rows", label: "", limits: [-0.5, 0.5], ticks: [[0, name]] },
    });
    const texts = (width: number) =>
      scene(rows, { width }).below.flatMap((item) => (item.kind === "text" ? [item.text] : []));
    expect(texts(1200)).toContain(name);
    const short = texts(358).find((text) => text.endsWith("…")) ?? "";
    expect(name.startsWith(short.slice(0, -1))).toBe(true);
    expect(short.length).toBeGreaterThan(8);
  });

  test("draws nothing, and fails at nothing, for a line without places", () => {
    const { below } = scene(chart({ lines: [line([])] }));
    expect(below.some((item) => item.kind === "path" && item.d === "")).toBe(true);
  });

  test("knows data from what only helps to read", () => {
    expect(isData(mark([1, 1], { subject: "f" }))).toBe(true);
    expect(isData(mark([1, 1], { name: "ridge point", size: 0.48 }))).toBe(false);
    expect(isData(mark([1, 1], { name: "attainable", shape: "cap" }))).toBe(false);
  });

  test.each([
    "circle",
    "square",
    "triangle",
    "diamond",
    "down",
    "plus",
    "cross",
    "star",
    "cap",
    "none",
  ] satisfies Shape[])("draws a %s about as large as asked", (shape) => {
    const numbers = (symbol(shape, 10).match(/-?\d+(\.\d+)?/g) ?? []).map(Number);
    const most = Math.max(0, ...numbers.map(Math.abs));
    expect(most).toBeLessThanOrEqual(10);
    expect(most > 3).toBe(shape !== "none");
  });
});

describe("a saved picture", () => {
  const nasty = `</text><script>alert("1")</script> & 'x'\n\u0000\ud800 \u202eabc`;
  const of = chart({
    title: nasty,
    subtitle: "medians",
    areas: [
      area([
        [0.01, 1e6],
        [1, 1e6],
        [1, 1e9],
      ]),
    ],
    lines: [
      line(
        [
          [0.01, 1e7],
          [100, 1e7],
        ],
        { label: label("DRAM"), kind: "lower" },
      ),
    ],
    marks: [mark([1, 1e8], { face: "hatched", ink: 1, label: label(nasty) })],
    key: [entry(nasty, { shape: "circle", ink: 1 }), entry("gone", { line: "roof" })],
    notes: ["a note"],
    drawing_notes: ["a note on the drawing"],
  });
  const drawn = scene(of);
  const colour = fixedColours("light");
  const file = svgFile(drawn, of, new Set(of.key.slice(1)), { colour, measure });
  const parsed = new DOMParser().parseFromString(file, "image/svg+xml");

  test("is well-formed whatever names say", () => {
    expect(parsed.querySelector("parsererror")).toBeNull();
    expect(parsed.querySelector("script")).toBeNull();
    expect(parsed.documentElement.getAttribute("xmlns")).toBe("http://www.w3.org/2000/svg");
  });

  test("says title, axes, labels, key and notes, without what is switched off", () => {
    const texts = [...parsed.querySelectorAll("text")].map(({ textContent }) => textContent);
    for (const text of [
      "medians",
      "Intensity [flop/byte]",
      "10 M",
      "DRAM",
      "a note",
      "a note on the drawing",
    ])
      expect(texts).toContain(text);
    expect(texts.join(" ")).toContain(`alert("1")`);
    expect(texts).not.toContain("gone");
  });

  test("needs nothing from elsewhere", () => {
    expect(file).not.toMatch(/var\(|href|@import|url\((?!#)/);
    for (const [, name] of file.matchAll(/url\(#([^)]+)\)/g))
      expect(parsed.getElementById(name ?? "")).not.toBeNull();
    expect(parsed.documentElement.getAttribute("font-family")).toContain("sans-serif");
  });

  test("has the colours of its ground", () => {
    expect(file).toContain(look.colours.light.paper);
    const dark = svgFile(drawn, of, new Set(), { colour: fixedColours("dark"), measure });
    expect(dark).toContain(look.colours.dark["1"]);
    expect(dark).not.toContain(look.colours.light["1"]);
  });

  test("is the same each time", () => {
    expect(svgFile(scene(of), of, new Set(of.key.slice(1)), { colour, measure })).toBe(file);
  });

  test("breaks long notes into rows", () => {
    // Letters are 5 wide: 8 of them fit into 40.
    expect(wrapped("aaa bbb ccc ddddddddddd e", 40, 10, measure)).toEqual([
      "aaa bbb",
      "ccc",
      "ddddddddddd",
      "e",
    ]);
  });
});

test("texts stand upright however they are turned on the page", () => {
  const svg = svgOf(
    [
      {
        kind: "text",
        text: "a",
        x: 1,
        y: 2,
        size: 10,
        ink: "ink",
        anchor: "end",
        angle: -90,
        halo: "paper",
      },
    ],
    { colour: fixedColours("light"), name: "n" },
  );
  expect(svg).toContain('transform="rotate(-90 1 2)"');
  expect(svg).toContain('text-anchor="end"');
  expect(svg).toContain(`stroke="${look.colours.light.paper}"`);
});

test("a chart is described for those who do not see it", () => {
  const of = chart({
    marks: [mark([1, 1e8])],
    lines: [
      line([
        [1, 1e8],
        [2, 1e8],
      ]),
      line([
        [1, 1e8],
        [2, 1e8],
      ]),
    ],
  });
  expect(description(of)).toBe(
    "A machine. Intensity [flop/byte] across, Performance [flop/s] upwards. 1 point, 2 lines",
  );
});
