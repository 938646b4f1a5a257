import { describe, expect, test } from "vitest";
import { filtered, governs } from "../../src/chart/filter";
import { wayBetween } from "../../src/chart/motion";
import type { Chart, Entry, View } from "../../src/document";
import { initialState, type ViewState } from "../../src/state";
import { bar, chart, entry, line, mark, subject, view } from "./charts";

const levels = ["l1", "l2", "dram"].map((level, index) =>
  mark([10 - index, 1e8], { name: level, subject: "f", tags: { level } }),
);
const cap = mark([1, 1e9], { shape: "cap", name: "cap", subject: "f", tags: { level: "dram" } });
const other = mark([2, 1e7], { name: "other", subject: "g", ink: 1, tags: { level: "dram" } });
const plain = mark([3, 1e7], { name: "ridge point", ink: "ink" });
const of = chart({
  marks: [...levels, cap, other, plain],
  lines: [
    line([
      [1, 1e7],
      [2, 1e8],
    ]),
    line(
      [
        [1, 1e6],
        [2, 1e7],
      ],
      { name: "own", subject: "g", kind: "own" },
    ),
  ],
  bars: [bar(0, 0, 1, { subject: "g", ink: 1 })],
});
const seen = view(of, {
  controls: [{ tag: "level", title: "", exclusive: false, initial: ["dram"], options: [] }],
  subjects: [subject("f", { share: 0.9 }), subject("g", { share: 0.1 })],
});

function shownOf(
  change: Partial<ViewState> = {},
  hidden: Entry[] = [],
  in_: [Chart, View] = [of, seen],
) {
  const state = { ...initialState(in_[1]), ...change };
  return filtered(in_[0], in_[1], state, new Set(hidden));
}
const names = (things: readonly { name: string }[]) => things.map(({ name }) => name);

describe("what is shown", () => {
  test("has chosen values of its tags, or no tags", () => {
    expect(names(shownOf().marks)).toEqual(["dram", "cap", "other", "ridge point"]);
    expect(names(shownOf({ chosen: { level: ["l1"] } }).marks)).toEqual(["l1", "ridge point"]);
    expect(names(shownOf({ chosen: { level: [] } }).marks)).toEqual(["ridge point"]);
  });

  test("is of subjects that make up the runtime shown; things of no subject stay", () => {
    const { marks, lines, bars } = shownOf({ runtimeShown: 0.5 });
    expect(names(marks)).toEqual(["dram", "cap", "ridge point"]);
    expect(names(lines)).toEqual(["a roof"]);
    expect(bars).toEqual([]);
  });

  test("was found by the search", () => {
    expect(names(shownOf({ found: new Set(["g"]) }).marks)).toEqual(["other", "ridge point"]);
  });

  test("is faint while others are selected, but for what has no subject", () => {
    const { isFaint } = shownOf({ selected: ["f"] });
    expect([other, levels[0], plain].map((thing) => isFaint(thing ?? plain))).toEqual([
      true,
      false,
      false,
    ]);
    expect(shownOf().isFaint(other)).toBe(false);
  });
});

describe("joined marks", () => {
  test("are those of all levels from left to right, without caps", () => {
    const { joined, marks } = shownOf({ joined: ["f"] });
    expect(joined.map(({ marks: of }) => names(of))).toEqual([["dram", "l2", "l1"]]);
    expect(names(marks)).toEqual(["l1", "l2", "dram", "cap", "other", "ridge point"]);
  });

  test("need two", () => {
    expect(shownOf({ joined: ["g"] }).joined).toEqual([]);
  });

  test("are not joined across values that exclude each other", () => {
    const both = chart({
      marks: ["1", "2"].flatMap((cores) =>
        ["l1", "dram"].map((level) =>
          mark([Number(cores), 1e7], { subject: "f", name: cores + level, tags: { level, cores } }),
        ),
      ),
    });
    const two = view(both, {
      controls: [
        { tag: "cores", title: "", exclusive: true, initial: ["2"], options: [] },
        { tag: "level", title: "", exclusive: false, initial: ["dram"], options: [] },
      ],
    });
    const { joined } = shownOf({ joined: ["f"] }, [], [both, two]);
    expect(joined.map(({ marks }) => names(marks))).toEqual([["2l1", "2dram"]]);
  });
});

describe("entries of the key", () => {
  test("hide the things of their tags or subject", () => {
    const level = entry("L1", { shape: "triangle", tags: { level: "dram" } });
    expect(names(shownOf({}, [level]).marks)).toEqual(["ridge point"]);
    const one = entry("g", { shape: "circle", subject: "g" });
    const { marks, lines, bars } = shownOf({}, [one]);
    expect([names(marks), names(lines), bars]).toEqual([
      ["dram", "cap", "ridge point"],
      ["a roof"],
      [],
    ]);
  });

  test("without either hide what looks like them", () => {
    const roofs = entry("roofs", { line: "roof" });
    expect(names(shownOf({}, [roofs]).lines)).toEqual(["own"]);
    const series = entry("g: 10 Mflop/s", { lead: "B", shape: "circle", ink: 1 });
    expect(names(shownOf({}, [series]).marks)).toEqual(["dram", "cap", "ridge point"]);
    const caps = entry("attainable", { shape: "cap" });
    expect(names(shownOf({}, [caps]).marks)).toEqual(["dram", "other", "ridge point"]);
    const squares = entry("stage", { shape: "square", ink: 1 });
    expect(shownOf({}, [squares]).bars).toEqual([]);
  });

  test("that speak of nothing drawn cannot be switched", () => {
    expect(governs(entry("intensity over the traffic of:"), of)).toBe(false);
    expect(governs(entry("x", { shape: "star" }), of)).toBe(false);
    expect(governs(entry("roofs", { line: "roof" }), of)).toBe(true);
  });
});

describe("motion", () => {
  const roof = (cores: string, top: number) =>
    line(
      [
        [0.01, top],
        [100, top],
      ],
      { tags: { cores, roof: "l1" } },
    );
  const isLog = { x: true, y: true };
  const shown = (...lines: ReturnType<typeof roof>[]) => ({
    areas: [],
    lines,
    marks: [],
    bars: [],
  });

  test("leads from a roof to the same of other cores by ratios", () => {
    const way = wayBetween(shown(roof("1", 1e7)), shown(roof("2", 1e9)), isLog);
    const at = (part: number) => way?.(part).lines[0]?.places[0]?.[1];
    expect(at(0)).toBeCloseTo(1e7, 0);
    expect(at(0.5)).toBeCloseTo(1e8, 0);
    expect(at(1)).toBeCloseTo(1e9, 0);
  });

  test("nothing moves between things of two different tags, or where nothing came", () => {
    const l2 = line(
      [
        [0.01, 1e8],
        [100, 1e8],
      ],
      { tags: { cores: "2", roof: "l2" } },
    );
    expect(wayBetween(shown(roof("1", 1e7)), shown(l2), isLog)).toBeNull();
    expect(wayBetween(shown(roof("1", 1e7), l2), shown(l2), isLog)).toBeNull();
  });

  test("marks go on a linear axis by differences", () => {
    const [from, to] = ["1", "2"].map((cores) =>
      mark([Number(cores), 1], { subject: "f", tags: { cores } }),
    );
    const of = (one: typeof from) => ({ areas: [], lines: [], marks: one ? [one] : [], bars: [] });
    const way = wayBetween(of(from), of(to), { x: false, y: true });
    expect(way?.(0.25).marks[0]?.at[0]).toBeCloseTo(1.25, 12);
  });
});

describe("labels", () => {
  test("of joined levels are their titles, the rightmost with its own name", () => {
    const own = { text: "A", short: "", where: null, rank: 3, is_bold: true, is_optional: true };
    const marks = levels.map((mark) => ({ ...mark, label: own }));
    const titled = view(chart({ marks }), {
      controls: [
        {
          tag: "level",
          title: "",
          exclusive: false,
          initial: ["dram"],
          options: [{ value: "l1", title: "L1" }],
        },
      ],
    });
    const { labels } = shownOf({ joined: ["f"] }, [], [chart({ marks }), titled]);
    expect([...labels.values()].map(({ text }) => text)).toEqual(["dram", "l2", "A: L1"]);
  });

  test("of what is selected come first", () => {
    const label = { text: "A", short: "", where: null, rank: 3, is_bold: true, is_optional: true };
    const marks = [
      { ...other, label },
      { ...plain, label },
    ];
    const { labels } = shownOf({ selected: ["g"] }, [], [chart({ marks }), seen]);
    expect([...labels]).toEqual([[marks[0], { ...label, rank: -1, is_optional: false }]]);
  });
});
