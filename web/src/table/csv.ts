/** Tables as CSV (RFC 4180). */

import type { Column, Row } from "../document";

/** Returns rows as CSV: values in the unit of their column, what is unknown as nothing. */
export function csvOf(columns: readonly Column[], rows: readonly Row[]): string {
  const head = columns.map(({ title, unit, kind }) =>
    quoted(unit && kind !== "share" && kind !== "change" ? `${title} [${unit}]` : title),
  );
  const body = rows.map((row) => columns.map((column, at) => cellOf(row, column, at)));
  return `${[head, ...body].map((cells) => cells.join(",")).join("\r\n")}\r\n`;
}

function cellOf(row: Row, column: Column, at: number): string {
  const cell = row.cells[at];
  const value = cell?.value ?? (column.kind === "text" ? (cell?.text ?? "") : "");
  return quoted(typeof value === "string" ? guarded(value) : String(value));
}

/** Keeps spreadsheets from taking a text for a formula: an apostrophe says that it is none. */
function guarded(text: string): string {
  return /^'*[=+\-@\t\r]/u.test(text) ? `'${text}` : text;
}

function quoted(text: string): string {
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
