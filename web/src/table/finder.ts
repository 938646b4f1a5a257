/** What stands above a table: its search, the least change that is shown, and its columns. */

import type { Row, Table, View } from "../document";
import { make } from "../dom";
import { sliderOf } from "../slider";
import type { ViewStore } from "../state";

const STEPS = [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];

/** Returns the field of a search, which tells of what is written. */
export function searchInput(
  view: View,
  table: Table,
  value: string,
  seek: (search: string) => void,
): HTMLInputElement {
  const number = table.columns.find(({ kind }) => kind !== "text");
  const unit = number?.kind === "share" || number?.kind === "change" ? "5%" : "1";
  const example = number ? `, ${number.title} > ${unit}` : "";
  return make("input", {
    type: "search",
    id: `search-${view.key}`,
    placeholder: `Search: words${example}`,
    "aria-label": "Search the table: words, or a column, a comparison and a value",
    value,
    autocomplete: "off",
    spellcheck: "false",
    input: (event: InputEvent) => seek((event.target as HTMLInputElement).value),
  });
}

/** Returns whether a change of a row is as large as asked for; unknown ones are shown. */
export function changesEnough(table: Table, row: Row, least: number): boolean {
  if (least === 0) return true;
  const changes = table.columns.flatMap(({ kind }, at) =>
    kind === "change" ? (row.cells[at]?.value ?? null) : [],
  );
  return (
    changes.length === 0 ||
    changes.some((change) => change === null || Math.abs(Number(change)) >= least)
  );
}

/** Returns the slider of the least change; null: the table has no changes. */
export function changeSlider(view: View, table: Table, store: ViewStore): HTMLElement | null {
  if (!table.columns.some(({ kind }) => kind === "change")) return null;
  return sliderOf(store, {
    id: `change-${view.key}`,
    label: "Changes shown",
    max: STEPS.length - 1,
    shown: ({ leastChange }) => [
      STEPS.findLastIndex((step) => step <= leastChange),
      leastChange === 0 ? "all" : `≥ ${Number((leastChange * 100).toPrecision(3))} %`,
    ],
    ask: (step) => store.set({ leastChange: STEPS[step] ?? 0 }),
  });
}

/** Returns boxes that hide columns, with what these hold; null: there are few. Names always stay. */
export function columnBoxes(
  table: Table,
  kept: number,
  hide: (column: number, isHidden: boolean) => void,
): HTMLElement | null {
  if (table.columns.length < 6) return null;
  const boxes = table.columns.flatMap(({ title, help }, at) => {
    if (at === kept) return [];
    const box = make("input", {
      type: "checkbox",
      checked: true,
      change: () => hide(at, !box.checked),
    });
    const about = help ? make("span", { class: "about" }, help) : null;
    return make("label", {}, box, title, about);
  });
  return make(
    "details",
    { class: "columns" },
    make("summary", {}, "Columns"),
    make("div", {}, ...boxes),
  );
}
