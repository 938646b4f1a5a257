/** Charts for tests, with everything left out that a test does not speak of. */

import type { Measure } from "../../src/chart/items";
import type { Area, Bar, Chart, Entry, Label, Line, Mark, Subject, View } from "../../src/document";

export const label = (text: string, more: Partial<Label> = {}): Label => ({
  text,
  short: "",
  where: null,
  rank: 0,
  is_bold: false,
  is_optional: false,
  ...more,
});

export const mark = (at: readonly [number, number], more: Partial<Mark> = {}): Mark => ({
  at,
  shape: "circle",
  ink: 0,
  face: "full",
  x_interval: null,
  y_interval: null,
  size: 1,
  edge: null,
  beyond: null,
  is_alarming: false,
  label: null,
  name: "a mark",
  summary: "",
  glyph: "",
  ...more,
});

export const line = (places: Line["places"], more: Partial<Line> = {}): Line => ({
  kind: "roof",
  places,
  ink: null,
  low: [],
  high: [],
  shape: null,
  label: null,
  name: "a roof",
  summary: "",
  ...more,
});

export const bar = (row: number, begin: number, end: number, more: Partial<Bar> = {}): Bar => ({
  row,
  begin,
  end,
  ink: 0,
  face: "full",
  label: null,
  name: "a bar",
  summary: "",
  ...more,
});

export const area = (corners: Area["corners"], more: Partial<Area> = {}): Area => ({
  corners,
  ink: "compute",
  label: null,
  name: "",
  ...more,
});

export const entry = (text: string, more: Partial<Entry> = {}): Entry => ({
  text,
  ink: null,
  line: null,
  has_band: false,
  shape: null,
  face: "full",
  lead: "",
  is_part: false,
  is_abreast: false,
  glyph: "",
  ...more,
});

/** A chart from 0.01 to 100 and from 1 M to 1 G, both logarithmic. */
export const chart = (more: Partial<Chart> = {}): Chart => ({
  title: "A machine",
  subtitle: "",
  x: {
    label: "Intensity [flop/byte]",
    limits: [0.01, 100],
    scale: "log",
    is_slanted: false,
    ticks: [
      [0.01, "0.01"],
      [0.1, "0.1"],
      [1, "1"],
      [10, "10"],
      [100, "100"],
    ],
  },
  y: {
    label: "Performance [flop/s]",
    limits: [1e6, 1e9],
    scale: "log",
    is_slanted: false,
    ticks: [
      [1e6, "1 M"],
      [1e7, "10 M"],
      [1e8, "100 M"],
      [1e9, "1 G"],
    ],
  },
  right: null,
  areas: [],
  lines: [],
  marks: [],
  bars: [],
  key: [],
  notes: [],
  drawing_notes: [],
  height: 0.75,
  ...more,
});

export const subject = (key: string, more: Partial<Subject> = {}): Subject => ({
  key,
  name: key,
  kind: "function",
  parent: null,
  share: null,
  facts: [],
  advice: [],
  ruled_out: [],
  cautions: [],
  lines: [],
  ...more,
});

export const view = (of: Chart, more: Partial<View> = {}): View => ({
  key: "v",
  kind: "roofline",
  title: "View",
  charts: [of],
  controls: [],
  table: null,
  subjects: [],
  coverage: null,
  notes: [],
  ...more,
});

/** Letters that are all half as wide as high. */
export const measure: Measure = (text, size) => text.length * size * 0.5;
