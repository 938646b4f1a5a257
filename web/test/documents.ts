/** Parts of documents, for tests. */

import type { Cell, Column, Row, Subject, Table, View } from "../src/document";

export function subject(key: string, share: number | null, parent: string | null = null): Subject {
  return {
    key,
    name: key,
    kind: "function",
    parent,
    share,
    facts: [],
    advice: [],
    ruled_out: [],
    cautions: [],
    lines: [],
  };
}

export function viewOf(...subjects: Subject[]): View {
  return {
    key: "v",
    kind: "roofline",
    title: "Roofline",
    charts: [],
    controls: [
      {
        tag: "level",
        title: "Levels",
        options: [
          { value: "L1", title: "L1" },
          { value: "DRAM", title: "DRAM" },
        ],
        initial: ["DRAM"],
        exclusive: false,
      },
    ],
    table: null,
    subjects,
    coverage: null,
    notes: [],
  };
}

export function column(title: string, kind: Column["kind"], unit = ""): Column {
  return { key: title, title, unit, kind, help: "" };
}

export function row(name: string, ...values: (number | null)[]): Row {
  const cells: Cell[] = values.map((value) => ({
    text: value === null ? "unknown" : String(value),
    value,
    fact: "",
  }));
  return { subject: name, tags: {}, cells: [{ text: name, value: null, fact: "" }, ...cells] };
}

export const TABLE: Table = {
  name: "parts",
  columns: [
    column("name", "text"),
    column("share of time", "share"),
    column("T", "number", "s"),
    column("Q DRAM", "number", "B"),
  ],
  rows: [
    row("gemm", 0.6, 0.012, 2e9),
    row("vector<double>", 0.05, 0.001, 1.5e6),
    row("gemv 10", 0.3, 0.006, null),
    row("gemv 9", null, null, 0),
  ],
};
