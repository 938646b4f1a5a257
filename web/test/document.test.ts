import { expect, test } from "vitest";
import { complete, type PageDocument } from "../src/document";

test("complete fills in what is left out, in every class, and nothing else", () => {
  const short = {
    schema: 1,
    defaults: {
      View: { notes: [], coverage: null, controls: [] },
      Mark: { size: 1, label: null },
      Label: { short: "" },
      Cell: { fact: "" },
    },
    records: [{ key: "r", report: { marks: [{ a: 1 }] } }],
    views: [
      {
        charts: [{ marks: [{ at: [1, 2] }, { at: [3, 4], size: 2, label: { text: "x" } }] }],
        table: { rows: [{ cells: [{ text: "1" }] }] },
      },
    ],
  } as unknown as PageDocument;

  const page = complete(short);

  expect(page.views[0]).toEqual({
    notes: [],
    coverage: null,
    controls: [],
    charts: [
      {
        marks: [
          { at: [1, 2], size: 1, label: null },
          { at: [3, 4], size: 2, label: { text: "x", short: "" } },
        ],
      },
    ],
    table: { rows: [{ cells: [{ text: "1", fact: "" }] }] },
  });
  expect(page.records).toEqual(short.records);
});
