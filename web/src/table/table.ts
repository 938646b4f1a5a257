/** The table of a view: sorted, searched, linked with the chart, quick with many rows. */

import type { Row, Table, View } from "../document";
import { make } from "../dom";
import { isChosen, select, subjectFilter, type ViewState, type ViewStore } from "../state";
import { changeSlider, changesEnough, columnBoxes, searchInput } from "./finder";
import { moveFocus } from "./keys";
import { headColumn, headElement, rowElement } from "./rows";
import { searchOf } from "./search";
import { nextOrder, type Order, sorted } from "./sorting";

const ALL = 200; // so many rows are drawn at once; of more, only those in sight
const SPARE = 12; // rows drawn above and below those in sight
const PRINTED = 500;
const WIDE = 9; // columns that fit on a sheet of paper held upright

/** A table on the page. */
export class TableView {
  readonly element: HTMLElement;
  readonly search: HTMLInputElement;
  readonly #table: Table;
  readonly #view: View;
  readonly #store: ViewStore;
  readonly #head: HTMLTableSectionElement;
  readonly #body = make("tbody");
  readonly #frame: HTMLElement;
  readonly #grid: HTMLTableElement;
  readonly #count = make("p", { class: "count", role: "status" });
  readonly #problem = make("p", { class: "problem", role: "status" });
  #sought = "";
  #found: ReadonlySet<Row> | null = null;
  readonly #hidden = new Set<number>();
  #order: Order | null = null;
  #inOrder: readonly Row[];
  #rows: readonly Row[] = [];
  #first = -1;
  #last = -1;
  #active = { row: 0, button: 0 };
  #isPrinted = false;
  /** Heights in pixels, measured when they change: asking for them delays every drawing. */
  #heights = { row: 30, head: 30, frame: 0 };

  constructor(view: View, table: Table, store: ViewStore) {
    this.#view = view;
    this.#table = table;
    this.#store = store;
    this.#inOrder = table.rows;
    this.#head = headElement(table);
    this.search = searchInput(view, table, store.get().search, (search) => this.#seek(search));
    this.#grid = make(
      "table",
      { "aria-label": table.name, "aria-colcount": table.columns.length },
      this.#head,
      this.#body,
    );
    this.#frame = make(
      "div",
      { class: "frame", role: "region", "aria-label": table.name, tabindex: 0 },
      this.#grid,
    );
    this.element = make(
      "section",
      { class: table.columns.length > WIDE ? "table wide" : "table" },
      make("h3", {}, table.name),
      make(
        "div",
        { class: "finder" },
        this.search,
        changeSlider(view, table, store),
        columnBoxes(table, headColumn(table), (column, isHidden) => this.#hide(column, isHidden)),
        this.#count,
      ),
      this.#problem,
      this.#frame,
    );
    this.#listen();
    this.#seek(store.get().search);
    this.#filter();
    new ResizeObserver(() => this.#measure()).observe(this.#frame);
    store.subscribe((now, before) => this.#update(now, before));
  }

  /** The rows that are shown, in their order. */
  get rows(): readonly Row[] {
    return this.#rows;
  }

  /** Draws what is printed: more rows than are in sight. */
  print(isPrinted: boolean): void {
    this.#isPrinted = isPrinted;
    this.#draw(true);
  }

  #listen(): void {
    this.#frame.addEventListener("scroll", () => this.#draw(false), { passive: true });
    this.#head.addEventListener("click", (event) => {
      const column = (event.target as Element).closest<HTMLElement>("[data-column]")?.dataset
        .column;
      if (column !== undefined) this.#sort(Number(column));
    });
    this.#body.addEventListener("click", (event) => this.#click(event));
    this.#body.addEventListener("dblclick", () => document.getSelection()?.empty());
    this.#body.addEventListener("pointerover", (event) => this.#hover(event.target));
    this.#body.addEventListener("pointerleave", () => this.#store.set({ hovered: null }));
    this.#body.addEventListener("focusin", (event) => {
      this.#remember(event.target as Element);
      this.#hover(event.target);
    });
    this.#body.addEventListener("focusout", () => this.#store.set({ hovered: null }));
    this.#body.addEventListener("keydown", (event) => this.#move(event));
  }

  #sort(column: number): void {
    this.#order = nextOrder(this.#table, this.#order, column);
    this.#inOrder = sorted(this.#table, this.#order);
    const heads = this.#head.querySelectorAll("th");
    for (const [at, head] of heads.entries()) {
      if (at !== this.#order?.column) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", this.#order.isDescending ? "descending" : "ascending");
    }
    this.#frame.scrollTop = 0;
    this.#filter();
  }

  #hide(column: number, isHidden: boolean): void {
    if (isHidden) this.#hidden.add(column);
    else this.#hidden.delete(column);
    for (const [at, head] of this.#head.querySelectorAll("th").entries())
      head.hidden = this.#hidden.has(at);
    this.#draw(true);
  }

  #click(event: MouseEvent): void {
    const target = event.target as Element;
    const subject = target.closest<HTMLElement>("tr")?.dataset.subject;
    if (!subject) return;
    const fact = target.closest<HTMLElement>("[data-fact]")?.dataset.fact;
    if (fact) this.#store.set({ selected: [subject], asked: fact });
    else select(this.#store, subject, event.ctrlKey || event.metaKey || event.shiftKey);
  }

  #hover(target: EventTarget | null): void {
    const row = target instanceof Element ? target.closest<HTMLElement>("tr") : null;
    this.#store.set({ hovered: row?.dataset.subject ?? null });
  }

  #remember(target: Element): void {
    const row = target.closest<HTMLElement>("tr");
    if (!row) return;
    const button = [...row.querySelectorAll("button")].indexOf(target as HTMLButtonElement);
    this.#active = { row: Number(row.dataset.row), button };
    this.#rove();
  }

  /** Lets Tab reach one button of the rows alone: the one that had the focus last. */
  #rove(): void {
    for (const button of this.#body.querySelectorAll("[tabindex='0']"))
      button.setAttribute("tabindex", "-1");
    const row =
      this.#body.querySelector(`[data-row="${this.#active.row}"]`) ??
      this.#body.querySelector("[data-row]");
    const buttons = row?.querySelectorAll("button");
    (buttons?.[this.#active.button] ?? buttons?.[0])?.setAttribute("tabindex", "0");
  }

  #move(event: KeyboardEvent): void {
    const to = moveFocus(event, this.#active, this.#rows.length, this.#table.columns.length);
    if (to === null) return;
    event.preventDefault();
    this.#active = to;
    this.#reveal(to.row);
    const row = this.#body.querySelector(`[data-row="${to.row}"]`);
    const buttons = row?.querySelectorAll("button") ?? [];
    buttons[Math.min(to.button, buttons.length - 1)]?.focus({ preventScroll: true });
  }

  /** Scrolls so that a row is in sight, and draws it. */
  #reveal(row: number): void {
    const height = this.#heights.row;
    const room = this.#heights.frame - this.#heights.head;
    const top = row * height;
    if (top < this.#frame.scrollTop) this.#frame.scrollTop = top;
    else if (top + height > this.#frame.scrollTop + room)
      this.#frame.scrollTop = top + height - room;
    this.#draw(false);
  }

  #update(now: ViewState, before: ViewState): void {
    if (now.search !== this.#sought) {
      this.search.value = now.search;
      this.#seek(now.search);
    } else if (
      now.search !== before.search ||
      now.chosen !== before.chosen ||
      now.leastChange !== before.leastChange ||
      now.runtimeShown !== before.runtimeShown
    ) {
      this.#filter();
    }
    if (now.selected !== before.selected && !this.#body.contains(document.activeElement)) {
      const row = this.#rows.findIndex(({ subject }) => subject === now.selected.at(-1));
      if (row >= 0 && this.element.offsetParent !== null) this.#reveal(row);
    }
    if (now.selected !== before.selected || now.hovered !== before.hovered) this.#mark();
  }

  /** Reads a search, and tells at once of it and of what it lets through. */
  #seek(search: string): void {
    const { test, problem } = searchOf(this.#table, search);
    this.#problem.textContent = problem;
    this.search.setAttribute("aria-invalid", String(problem !== null));
    const rows = test === null ? this.#table.rows : this.#table.rows.filter(test);
    const isAll = rows.length === this.#table.rows.length;
    this.#found = isAll ? null : new Set(rows);
    this.#sought = search;
    const found = isAll ? null : new Set(rows.map(({ subject }) => subject));
    this.#store.set({ search, found });
  }

  #filter(): void {
    const state = this.#store.get();
    const isRunning = subjectFilter(this.#view, { ...state, found: null });
    const found = this.#found;
    this.#rows = this.#inOrder.filter(
      (row) =>
        (found?.has(row) ?? true) &&
        isChosen(row.tags, state.chosen) &&
        isRunning(row.subject) &&
        changesEnough(this.#table, row, state.leastChange),
    );
    const [shown, all] = [this.#rows.length, this.#table.rows.length].map((n) =>
      n.toLocaleString("en"),
    );
    this.#count.textContent = shown === all ? `${all} rows` : `${shown} of ${all} rows`;
    this.#grid.setAttribute("aria-rowcount", String(this.#rows.length + 1));
    this.#draw(true);
  }

  #measure(): void {
    if (this.#frame.clientHeight === 0) return; // it is hidden
    const row = this.#body.querySelector<HTMLElement>("[data-row]")?.offsetHeight;
    this.#heights = {
      row: row ?? this.#heights.row,
      head: this.#head.offsetHeight,
      frame: this.#frame.clientHeight,
    };
    if (this.#rows.length > ALL) this.#draw(true);
  }

  /** Draws the rows in sight. */
  #draw(isForced: boolean): void {
    const count = this.#rows.length;
    const height = this.#heights.row;
    let first = 0;
    let last = Math.min(count, this.#isPrinted ? PRINTED : ALL);
    if (count > ALL && !this.#isPrinted) {
      const room = Math.ceil((this.#heights.frame || 800) / height);
      first = Math.max(
        0,
        Math.min(Math.floor(this.#frame.scrollTop / height), count - room) - SPARE,
      );
      last = Math.min(count, first + room + 2 * SPARE);
      const isCovered = first >= this.#first && last <= this.#last;
      if (!isForced && isCovered && this.#first >= 0) return;
    }
    if (!isForced && first === this.#first && last === this.#last) return;
    const hadFocus = this.#body.contains(document.activeElement);
    this.#first = first;
    this.#last = last;
    const rows = this.#rows
      .slice(first, last)
      .map((row, at) => rowElement(this.#table, row, first + at, this.#hidden));
    this.#body.replaceChildren(...gap(first * height), ...rows, ...this.#rest(last, height));
    this.#mark();
    this.#rove();
    if (hadFocus)
      this.#body.querySelector<HTMLElement>("[tabindex='0']")?.focus({ preventScroll: true });
  }

  #rest(last: number, height: number): HTMLElement[] {
    const left = this.#rows.length - last;
    if (!this.#isPrinted || left === 0) return gap(left * height);
    const text = `${left.toLocaleString("en")} more rows are not printed.`;
    return [make("tr", {}, make("td", { colspan: this.#table.columns.length }, text))];
  }

  /** Shows which rows are selected and pointed at. */
  #mark(): void {
    const { selected, hovered } = this.#store.get();
    for (const row of this.#body.querySelectorAll<HTMLElement>("tr[data-subject]")) {
      const subject = row.dataset.subject ?? "";
      const isSelected = selected.includes(subject);
      row.classList.toggle("selected", isSelected);
      row.classList.toggle("hovered", subject === hovered);
      row.querySelector(".pick")?.setAttribute("aria-pressed", String(isSelected));
    }
  }
}

function gap(height: number): HTMLElement[] {
  if (height <= 0) return [];
  const cell = make("td", {});
  cell.style.height = `${height}px`;
  return [make("tr", { class: "gap", "aria-hidden": "true" }, cell)];
}
