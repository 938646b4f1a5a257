/**
 * The document that a page holds, as Python writes it (`show/page/document.py`), and the grammar of
 * its charts (`show/chart.py`), field by field.
 */

export interface PageDocument {
  schema: 1;
  version: string;
  title: string;
  records: PageRecord[];
  views: View[];
  /** Fields that are left out where they have these values, by class. */
  defaults: Record<string, Record<string, unknown>>;
}

export interface PageRecord {
  key: string;
  kind: "measurement" | "machine" | "cluster" | "timing" | "operators";
  name: string;
  label: string | null;
  note: string | null;
  created: string | null;
  host: string | null;
  /** Its own JSON document: the raw data to save. */
  report: unknown;
  /** System, caches, versions, protocol. */
  facts: Fact[];
}

export interface View {
  key: string;
  /** "roofline", "dc-roofline", "ridgeline", "scaling", "pipeline", "latency", ... */
  kind: string;
  title: string;
  charts: Chart[];
  controls: Control[];
  table: Table | null;
  subjects: Subject[];
  coverage: Coverage | null;
  notes: string[];
}

/** Values of a tag of which one, or any number, are shown. */
export interface Control {
  tag: string;
  title: string;
  options: { value: string; title: string }[];
  initial: string[];
  exclusive: boolean;
}

/** Values of tags for which a thing is shown; one without tags is shown always. */
export type Tags = Readonly<Record<string, string>>;

export interface Subject {
  key: string;
  name: string;
  kind: "program" | "region" | "function" | "line" | "rank" | "machine" | "case" | "operator";
  parent: string | null;
  /** Share of the time, from 0 to 1; null: unknown. */
  share: number | null;
  facts: Fact[];
  advice: { seen: string; what: string; gain: string }[];
  /** Whether one is open: not ruled out, since something is not known. */
  ruled_out: { what: string; why: string; is_open?: boolean }[];
  cautions: { code: string; text: string; matters: boolean }[];
  lines: SourceLine[];
}

export interface Fact {
  key: string;
  name: string;
  /** With its unit and interval, or "unknown: why". */
  text: string;
  /** How it was computed: a sentence, or a formula with its numbers. */
  how: string;
  inputs: { name: string; text: string }[];
  samples: number[] | null;
  samples_unit: string;
  /** A paper and its equation, or a page of the documentation. */
  source: string;
}

export interface SourceLine {
  file: string;
  line: number;
  text: string | null;
  facts: { name: string; text: string }[];
}

export interface Column {
  key: string;
  title: string;
  unit: string;
  /** Of a change, the value is relative: 0.05 for 5 % more. */
  kind: "text" | "number" | "share" | "change";
  help: string;
}

export interface Cell {
  text: string;
  value: number | string | null;
  /** Key of a fact of the row's subject; empty: none. */
  fact: string;
}

export interface Row {
  subject: string;
  tags: Tags;
  cells: Cell[];
}

export interface Table {
  name: string;
  columns: Column[];
  rows: Row[];
}

export interface Coverage {
  /** Share of the time that counts explain, from 0 to 1; null: unknown. */
  share: number | null;
  text: string;
}

export type Place = readonly [number, number];
export type Interval = readonly [number, number];
/** A colour by its meaning; a number: that of a series, from 0. */
export type Ink =
  | number
  | "ink"
  | "paper"
  | "note"
  | "faint"
  | "alarm"
  | "interval"
  | "undecided"
  | "compute"
  | "memory"
  | "network"
  | "remote memory"
  | "storage";
export type LineKind =
  | "roof"
  | "own"
  | "lower"
  | "beside"
  | "other"
  | "balance"
  | "iso"
  | "curve"
  | "second"
  | "fit"
  | "total"
  | "limit"
  | "level"
  | "size"
  | "path"
  | "change"
  | "stem"
  | "above"
  | "points";
export type Shape =
  | "circle"
  | "square"
  | "triangle"
  | "diamond"
  | "down"
  | "plus"
  | "cross"
  | "star"
  | "cap"
  | "none";
export type Face = "full" | "pale" | "hollow" | "hatched";
export type Edge = "left" | "right" | "top" | "bottom";
export type Where = "along" | "beside" | "right" | "upright" | "inside";

export interface Axis {
  label: string;
  limits: Interval;
  ticks: readonly (readonly [number, string])[];
  scale: "log" | "linear" | "rows";
  is_slanted: boolean;
}

export interface Label {
  text: string;
  short: string;
  where: Where | null;
  rank: number;
  is_bold: boolean;
  is_optional: boolean;
}

/** What lines, marks, areas, bars and entries have in common. */
export interface Tagged {
  tags?: Tags;
  subject?: string;
}

export interface Line extends Tagged {
  kind: LineKind;
  places: readonly Place[];
  ink: Ink | null;
  low: readonly number[];
  high: readonly number[];
  shape: Shape | null;
  label: Label | null;
  name: string;
  summary: string;
}

export interface Mark extends Tagged {
  at: Place;
  shape: Shape;
  ink: Ink;
  face: Face;
  x_interval: Interval | null;
  y_interval: Interval | null;
  size: number;
  edge: Edge | null;
  /** Where beyond its edge it lies; null: inside, or at no finite place. */
  beyond: Place | null;
  is_alarming: boolean;
  label: Label | null;
  name: string;
  summary: string;
  glyph: string;
}

export interface Area extends Tagged {
  corners: readonly Place[];
  ink: Ink | null;
  label: Label | null;
  name: string;
}

export interface Bar extends Tagged {
  row: number;
  begin: number;
  end: number;
  ink: Ink;
  face: Face;
  label: Label | null;
  name: string;
  summary: string;
}

export interface Entry extends Tagged {
  text: string;
  ink: Ink | null;
  line: LineKind | null;
  has_band: boolean;
  shape: Shape | null;
  face: Face;
  lead: string;
  is_part: boolean;
  is_abreast: boolean;
  glyph: string;
}

export interface Chart {
  title: string;
  subtitle: string;
  x: Axis;
  y: Axis;
  right: Axis | null;
  areas: readonly Area[];
  lines: readonly Line[];
  marks: readonly Mark[];
  bars: readonly Bar[];
  key: readonly Entry[];
  notes: readonly string[];
  drawing_notes: readonly string[];
  height: number;
}

/** The class of the objects in a field, by the class that has it; what is not listed is plain. */
const PARTS: Record<string, Record<string, string>> = {
  Document: { records: "PageRecord", views: "View" },
  PageRecord: { facts: "Fact" },
  View: {
    charts: "Chart",
    controls: "Control",
    table: "Table",
    subjects: "Subject",
    coverage: "Coverage",
  },
  Subject: { facts: "Fact", lines: "SourceLine" },
  Table: { columns: "Column", rows: "Row" },
  Row: { cells: "Cell" },
  Chart: {
    x: "Axis",
    y: "Axis",
    right: "Axis",
    areas: "Area",
    lines: "Line",
    marks: "Mark",
    bars: "Bar",
    key: "Entry",
  },
  Line: { label: "Label" },
  Mark: { label: "Label" },
  Area: { label: "Label" },
  Bar: { label: "Label" },
};

/** Fills in the fields that a document leaves out since they have their usual values. */
export function complete(document: PageDocument): PageDocument {
  const { defaults } = document;

  function whole(value: unknown, name: string): unknown {
    if (Array.isArray(value)) return value.map((part) => whole(part, name));
    if (typeof value !== "object" || value === null) return value;
    const filled: Record<string, unknown> = { ...defaults[name], ...value };
    for (const [field, part] of Object.entries(PARTS[name] ?? {}))
      if (field in filled) filled[field] = whole(filled[field], part);
    return filled;
  }

  return whole({ records: [], views: [], ...(document as object) }, "Document") as PageDocument;
}
