/** One view: its charts, controls, table and panel, drawn when it is first opened. */

import { type Drawn, drawChart } from "../chart";
import type { Coverage, PageDocument, View } from "../document";
import { make } from "../dom";
import { fileName, save } from "../files";
import type { ViewStore } from "../state";
import { csvOf } from "../table/csv";
import { TableView } from "../table/table";
import { controlsOf } from "./controls";
import { dataOf } from "./data";
import { panelOf } from "./panel";

/** A view on the page. */
export class ViewPart {
  readonly element: HTMLElement;
  readonly view: View;
  readonly store: ViewStore;
  readonly #page: PageDocument;
  #table: TableView | null = null;
  #panel: HTMLElement | null = null;
  #charts: readonly Drawn[] = [];
  #isDrawn = false;

  constructor(page: PageDocument, view: View, store: ViewStore) {
    this.#page = page;
    this.view = view;
    this.store = store;
    this.element = make("section", {
      class: `view ${view.kind}`,
      id: `view-${view.key}`,
      role: page.views.length > 1 ? "tabpanel" : null,
      "aria-labelledby": page.views.length > 1 ? `tab-${view.key}` : `title-${view.key}`,
      tabindex: -1,
      hidden: true,
    });
  }

  /** Shows the view or hides it. */
  show(isShown: boolean): void {
    this.element.hidden = !isShown;
    if (isShown) this.#draw();
  }

  /** Prepares for printing, or for the screen again. */
  print(isPrinted: boolean): void {
    this.#table?.print(isPrinted);
    for (const chart of this.#charts) chart.print(isPrinted);
  }

  focusSearch(): void {
    this.#table?.search.focus();
  }

  focusChart(): void {
    const place = this.element.querySelector<HTMLElement>(".chart");
    const inside = place?.querySelector<HTMLElement>("[tabindex='0']");
    (inside ?? place)?.focus();
  }

  focusTable(): void {
    const first = this.#table?.element.querySelector<HTMLElement>("tbody [tabindex='0']");
    (first ?? this.#table?.element.querySelector<HTMLElement>(".frame"))?.focus();
  }

  focusPanel(): void {
    this.#panel?.focus();
  }

  #draw(): void {
    if (this.#isDrawn) return;
    this.#isDrawn = true;
    const { view, store } = this;
    this.#table = view.table ? new TableView(view, view.table, store) : null;
    this.#panel = panelOf(view, store);
    const places = view.charts.map(() => make("div", { class: "chart", tabindex: -1 }));
    const hasPanel = view.subjects.length > 0 || view.notes.length > 0;
    const isBeside = hasPanel && places.length > 0;
    this.element.append(
      make(
        "header",
        {},
        make("h2", { id: `title-${view.key}` }, view.title),
        view.coverage ? coverageOf(view.coverage) : null,
        this.#savers(),
      ),
      controlsOf(view, store) ?? "",
      make(
        "div",
        { class: isBeside ? "plane" : "plane alone" },
        places.length > 0
          ? make("div", { class: places.length > 2 ? "charts several" : "charts" }, ...places)
          : null,
        hasPanel ? this.#panel : null,
      ),
      this.#table?.element ?? "",
    );
    this.#charts = view.charts.map((chart, at) =>
      drawChart(places[at] as HTMLElement, chart, view, store),
    );
  }

  #savers(): HTMLElement | null {
    const { view } = this;
    const title = `${this.#page.title} ${view.title}`;
    const button = (text: string, name: string, click: () => void) =>
      make("button", { type: "button", "aria-label": name, title: name, click }, text);
    const buttons: HTMLElement[] = [];
    const { table } = view;
    if (this.#page.records.length > 0)
      buttons.push(
        button("JSON", "Save the data of this page as JSON", () =>
          save(fileName(this.#page.title, "json"), fileOf("application/json", dataOf(this.#page))),
        ),
      );
    if (table)
      buttons.push(
        button("CSV", "Save the rows that are shown as CSV", () =>
          save(
            fileName(title, "csv"),
            fileOf("text/csv", csvOf(table.columns, this.#table?.rows ?? [])),
          ),
        ),
      );
    if (buttons.length === 0) return null;
    return make(
      "div",
      { class: "savers", role: "group", "aria-label": "Save" },
      "Save ",
      ...buttons,
    );
  }
}

function fileOf(type: string, content: string): Blob {
  return new Blob([content], { type: `${type};charset=utf-8` });
}

function coverageOf({ share, text }: Coverage): HTMLElement {
  const bar = make("span", { class: "bar", "aria-hidden": "true" });
  if (share === null) bar.classList.add("unknown");
  else bar.style.setProperty("--share", `${Math.min(Math.max(share, 0), 1) * 100}%`);
  return make("p", { class: "coverage" }, bar, make("span", {}, text));
}
