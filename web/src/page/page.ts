/** The whole page: title, views, records, keys, address. */

import type { PageDocument } from "../document";
import { make } from "../dom";
import { type PageState, Store } from "../state";
import { addressOf, stateOf, viewOf } from "./address";
import { headOf, recordsOf } from "./details";
import { Help } from "./help";
import { tabsOf } from "./tabs";
import { keptTheme, themeSwitch, wear } from "./theme";
import { ViewPart } from "./view";

const PAUSE_MS = 200;

/** A page that is open. */
export class Page {
  readonly #state: Store<PageState>;
  readonly #parts: readonly ViewPart[];
  readonly #help = new Help();
  #telling = 0;

  constructor(host: HTMLElement, page: PageDocument) {
    const { hash } = location;
    this.#parts = page.views.map(
      (view) =>
        new ViewPart(page, view, new Store(stateOf(viewOf(hash) === view.key ? hash : "", view))),
    );
    const first = page.views.find(({ key }) => key === viewOf(hash)) ?? page.views[0];
    this.#state = new Store<PageState>({ view: first?.key ?? "", theme: keptTheme() });
    const main = make(
      "main",
      { id: "main", tabindex: -1 },
      ...this.#parts.map(({ element }) => element),
    );
    if (page.views.length === 0) main.append(make("p", {}, "These records have nothing to draw."));
    host.replaceChildren(
      make(
        "a",
        { class: "skip", href: "#main", click: (event: Event) => this.#skip(event) },
        "Skip to the view",
      ),
      make(
        "header",
        { class: "page" },
        headOf(page),
        themeSwitch(this.#state),
        make(
          "button",
          { type: "button", class: "ask-help", click: () => this.#help.open() },
          "Help (?)",
        ),
      ),
      tabsOf(page.views, this.#state) ?? "",
      main,
      page.records.length > 0 ? recordsOf(page) : "",
      this.#help.element,
    );
    this.#listen();
    this.#show();
  }

  get #part(): ViewPart | undefined {
    return this.#parts.find(({ view }) => view.key === this.#state.get().view);
  }

  #skip(event: Event): void {
    event.preventDefault();
    this.#part?.element.focus();
  }

  #listen(): void {
    this.#state.subscribe((now, before) => {
      if (now.view !== before.view) {
        this.#show();
        this.#tellSoon();
      }
    });
    for (const part of this.#parts)
      part.store.subscribe((now, before) => {
        if (now.hovered === before.hovered) this.#tellSoon();
      });
    addEventListener("pagehide", () => this.#tell());
    addEventListener("hashchange", () => this.#follow());
    addEventListener("keydown", (event) => this.#press(event));
    addEventListener("beforeprint", () => this.#print(true));
    addEventListener("afterprint", () => this.#print(false));
  }

  #show(): void {
    const { view } = this.#state.get();
    for (const part of this.#parts) part.show(part.view.key === view);
  }

  /** Writes the address once changes pause: browsers take only so many in a minute. */
  #tellSoon(): void {
    clearTimeout(this.#telling);
    this.#telling = window.setTimeout(() => this.#tell(), PAUSE_MS);
  }

  /** Writes what is chosen into the address. */
  #tell(): void {
    const part = this.#part;
    if (!part) return;
    try {
      history.replaceState(null, "", addressOf(part.view, part.store.get()));
    } catch {
      // A page that has no address, as in a frame: it is shown all the same.
    }
  }

  #follow(): void {
    const { hash } = location;
    const part = this.#parts.find(({ view }) => view.key === viewOf(hash));
    if (!part) return;
    const { found: _, ...state } = stateOf(hash, part.view);
    part.store.set(state);
    this.#state.set({ view: part.view.key });
  }

  #press(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const isWriting =
      event.target instanceof Element &&
      event.target.matches(
        "input:not([type=checkbox], [type=radio], [type=range]), select, textarea",
      );
    if (event.key === "Escape" && !this.#help.element.open) {
      this.#part?.store.set({ selected: [], joined: [] });
      return;
    }
    if (isWriting || this.#help.element.open || !this.#help.hasKeys) return;
    if (this.#act(event.key)) event.preventDefault();
  }

  /** Does what a key stands for; returns whether it stands for anything. */
  #act(key: string): boolean {
    const part = this.#part;
    const themes = ["system", "light", "dark"] as const;
    const { theme } = this.#state.get();
    const actions: Record<string, () => void> = {
      "?": () => this.#help.open(),
      "/": () => part?.focusSearch(),
      c: () => part?.focusChart(),
      t: () => part?.focusTable(),
      p: () => part?.focusPanel(),
      d: () => this.#state.set({ theme: themes[(themes.indexOf(theme) + 1) % 3] ?? "system" }),
    };
    const action = actions[key];
    if (action) action();
    else if (/^[1-9]$/u.test(key)) {
      const view = this.#parts[Number(key) - 1]?.view.key;
      if (view === undefined) return false;
      this.#state.set({ view });
    } else return false;
    return true;
  }

  /** Shows all views, in light colours and with all that can be opened open, or as before. */
  #print(isPrinted: boolean): void {
    wear(isPrinted ? "light" : this.#state.get().theme);
    const { view } = this.#state.get();
    for (const part of this.#parts) {
      part.show(isPrinted || part.view.key === view);
      part.print(isPrinted);
    }
    for (const details of document.querySelectorAll<HTMLDetailsElement>("details.record")) {
      if (isPrinted) details.dataset.was = String(details.open);
      details.open = isPrinted || details.dataset.was === "true";
    }
  }
}
