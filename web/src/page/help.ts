/** The dialog that says what can be done, and the keys that do it. */

import { make } from "../dom";

const KEYS: readonly (readonly [string, string])[] = [
  ["?", "this help"],
  ["1 … 9", "show a view"],
  ["/", "search the table"],
  ["c", "go to the chart"],
  ["t", "go to the table"],
  ["p", "go to the panel about the selection"],
  ["d", "light, dark, or as the system says"],
  ["Esc", "clear the selection"],
  ["↑ ↓ ← →", "to the next point of the chart, or the next cell of the table"],
  ["Space", "select a point or a row; with Ctrl: add it to the selection"],
  ["Enter", "in the chart: join a point's levels; in the table: how was this number computed?"],
  ["+ - 0 u", "in the chart: zoom in, zoom out, show everything, undo"],
  ["Shift + ↑ ↓ ← →", "in the chart: move what is shown"],
];
const SEARCHES: readonly (readonly [string, string])[] = [
  ["gemm", "rows that contain this word"],
  ["-gemm", "rows that do not contain it"],
  ['"two words"', "rows that contain this phrase"],
  ["time > 5%", "a column by its title, or its beginning, and a value: > >= < <= = !="],
  ["time > 2 ms", "with a unit, or k, M, G, m, u, n"],
  ["name ~ gemm", "a column whose text contains this; !~ does not"],
  ["time = unknown", "rows whose value in this column is unknown"],
  ["a or b", "rows that contain either; of words without 'or', a row must contain all"],
];

export class Help {
  readonly element: HTMLDialogElement;
  readonly #keys: HTMLInputElement;

  constructor() {
    this.#keys = make("input", { type: "checkbox", id: "keys", checked: true });
    this.element = make(
      "dialog",
      { "aria-labelledby": "help", class: "help" },
      make("h2", { id: "help" }, "How to use this page"),
      make(
        "p",
        {},
        "Point at anything to see its numbers. Click a point or a row to see how they were computed, advice and source lines; hold Ctrl to select several. Double-click a point to join its levels by a line. The wheel, two fingers, or Shift and a drag zooms a chart; a drag moves it. Click an entry of the key below a chart to hide or show what it stands for.",
      ),
      make("h3", {}, "Keys"),
      listOf(KEYS, "kbd"),
      make("label", { class: "alone" }, this.#keys, "Single letters and digits are keys"),
      make("h3", {}, "Searching a table"),
      listOf(SEARCHES, "code"),
      make("h3", {}, "Saving"),
      make(
        "p",
        {},
        "The buttons save the data of the page (JSON), the rows that are shown (CSV), and the chart as it is shown (SVG, PNG). The address of the page keeps what you chose, so that you can link to it. Printing prints all views.",
      ),
      make(
        "form",
        { method: "dialog" },
        make("button", { type: "submit", autofocus: true }, "Close"),
      ),
    );
    this.element.addEventListener("click", (event) => {
      if (event.target === this.element) this.element.close();
    });
  }

  /** Whether single letters are keys; whoever speaks to the computer may not want that. */
  get hasKeys(): boolean {
    return this.#keys.checked;
  }

  open(): void {
    if (!this.element.open) this.element.showModal();
  }
}

function listOf(rows: readonly (readonly [string, string])[], tag: "kbd" | "code"): HTMLElement {
  const parts = rows.flatMap(([name, text]) => [
    make("dt", {}, make(tag, {}, name)),
    make("dd", {}, text),
  ]);
  return make("dl", {}, ...parts);
}
