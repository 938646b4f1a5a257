/** The elements of a table's rows. */

import type { Cell, Column, Row, Table } from "../document";
import { make } from "../dom";

/** Returns a row; its buttons are reached by the arrow keys, one of the table's by Tab. */
export function rowElement(
  table: Table,
  row: Row,
  index: number,
  hidden: ReadonlySet<number>,
): HTMLTableRowElement {
  const head = headColumn(table);
  const cells = row.cells.map((cell, at) =>
    cellElement(table.columns[at] as Column, cell, at === head, row.subject),
  );
  for (const at of hidden) if (cells[at]) cells[at].hidden = true;
  return make(
    "tr",
    { "aria-rowindex": index + 2, "data-row": index, "data-subject": row.subject || null },
    ...cells,
  );
}

function cellElement(column: Column, cell: Cell, isHead: boolean, subject: string): HTMLElement {
  const isUnknown = column.kind !== "text" && cell.value === null;
  const name = [column.kind === "text" ? "" : "number", isUnknown ? "unknown" : ""];
  const attributes = { class: name.filter(Boolean).join(" ") || null };
  const content = contentOf(cell, isHead, subject);
  const element = isHead
    ? make("th", { ...attributes, scope: "row" }, content)
    : make("td", attributes, content);
  if (column.kind === "share" && typeof cell.value === "number") {
    element.classList.add("share");
    element.style.setProperty("--share", `${Math.min(Math.max(cell.value, 0), 1) * 100}%`);
  }
  return element;
}

function contentOf(cell: Cell, isHead: boolean, subject: string): HTMLElement {
  const text = make("bdi", { title: cell.text.length > 24 ? cell.text : null }, cell.text);
  if (!subject || (!isHead && !cell.fact)) return text;
  return isHead
    ? make("button", { type: "button", class: "pick", tabindex: -1, "aria-pressed": "false" }, text)
    : make(
        "button",
        {
          type: "button",
          class: "ask",
          tabindex: -1,
          "data-fact": cell.fact,
          title: "How was this computed?",
        },
        text,
      );
}

/** Returns the column by which rows are called: that of names, or the first. */
export function headColumn(table: Table): number {
  return Math.max(
    0,
    table.columns.findIndex(({ key }) => key === "name"),
  );
}

/** Returns the head of a table, whose buttons sort it. */
export function headElement(table: Table): HTMLTableSectionElement {
  const cells = table.columns.map((column, at) =>
    make(
      "th",
      { scope: "col", class: column.kind === "text" ? null : "number" },
      make(
        "button",
        { type: "button", "data-column": at, title: column.help || null },
        make("span", {}, column.title),
        make("span", { class: "arrow", "aria-hidden": "true" }),
      ),
    ),
  );
  return make("thead", {}, make("tr", { "aria-rowindex": 1 }, ...cells));
}
