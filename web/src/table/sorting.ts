/** The order of a table's rows. */

import type { Cell, Row, Table } from "../document";

export interface Order {
  column: number;
  isDescending: boolean;
}

const collator = new Intl.Collator("en", { numeric: true });

/** Returns the rows in an order; null: as they are. What is unknown comes last in every order. */
export function sorted(table: Table, order: Order | null): readonly Row[] {
  if (order === null) return table.rows;
  const { column, isDescending } = order;
  const sign = isDescending ? -1 : 1;
  const known: Row[] = [];
  const unknown: Row[] = [];
  const isText = table.columns[column]?.kind === "text";
  const key = (row: Row) => keyOf(row.cells[column], isText);
  for (const row of table.rows) (key(row) === null ? unknown : known).push(row);
  known.sort((one, other) => {
    const a = key(one);
    const b = key(other);
    return typeof a === "number" && typeof b === "number"
      ? sign * (a - b)
      : sign * collator.compare(String(a), String(b));
  });
  return [...known, ...unknown];
}

/** Returns what a cell is ordered by; null: unknown. A text without a value is its own. */
function keyOf(cell: Cell | undefined, isText: boolean): number | string | null {
  return cell?.value ?? ((isText && cell?.text) || null);
}

/** Returns the order after a click on a column: numbers from the largest, texts from A; then back. */
export function nextOrder(table: Table, before: Order | null, column: number): Order | null {
  const isFirstDescending = table.columns[column]?.kind !== "text";
  if (before?.column !== column) return { column, isDescending: isFirstDescending };
  return before.isDescending === isFirstDescending
    ? { column, isDescending: !isFirstDescending }
    : null;
}
