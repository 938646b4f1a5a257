/** The keyboard's way through a chart: one element for each thing that can be asked. */

import { make } from "../dom";
import type { Found } from "./hit";
import { MOST_SHAPES } from "./scene";

/** Elements in the order of the stops, of which one at a time can be reached by the tabulator. */
export class Stops {
  #stops: readonly Found[] = [];
  #current = 0;
  readonly #elements = new Map<object, HTMLElement>();
  /** Makes the stops once they are asked for, as there are many. */
  #late: (() => readonly Found[]) | null = null;

  constructor(
    private readonly host: HTMLElement,
    private readonly say: (found: Found) => string,
    private readonly onFocus: (found: Found | null) => void,
  ) {
    host.addEventListener("focus", () => {
      if (!this.#late) return;
      this.#take(this.#late());
      this.#focus();
    });
  }

  get current(): Found | null {
    return this.#stops[this.#current] ?? null;
  }

  get hasFocus(): boolean {
    return this.host.contains(document.activeElement) && document.activeElement !== this.host;
  }

  /**
   * Takes new stops; the focus stays on its thing as long as that is shown. Of many, none is made
   * until the focus comes.
   */
  update(make: () => readonly Found[], areMany: boolean): void {
    if (!areMany || this.hasFocus) {
      this.#take(make());
      return;
    }
    this.#late = make;
    this.#clear();
    this.host.tabIndex = 0;
  }

  #clear(): void {
    for (const element of this.#elements.values()) element.remove();
    this.#elements.clear();
  }

  #take(stops: readonly Found[]): void {
    this.#late = null;
    this.host.removeAttribute("tabindex");
    const before = this.current?.thing;
    const hadFocus = this.hasFocus;
    this.#stops = stops;
    this.#current = Math.max(
      stops.findIndex(({ thing }) => thing === before),
      0,
    );
    const kept = new Set(this.#made().map(({ thing }) => thing as object));
    for (const [thing, element] of this.#elements) {
      if (kept.has(thing)) continue;
      element.remove();
      this.#elements.delete(thing);
    }
    for (const found of this.#made()) this.#place(found);
    // What is moved loses the focus.
    if (!this.hasFocus) this.#order();
    this.#rove();
    if (hadFocus && !this.hasFocus) this.#focus();
  }

  /** Of many, only the current one has an element. */
  #made(): readonly Found[] {
    if (this.#stops.length <= MOST_SHAPES) return this.#stops;
    return this.current ? [this.current] : [];
  }

  /** Puts the elements in the order of the stops, in which a screen reader goes through them. */
  #order(): void {
    let next = this.host.firstElementChild;
    for (const { thing } of this.#made()) {
      const element = this.#elements.get(thing);
      if (element === next) next = next?.nextElementSibling ?? null;
      else if (element) this.host.insertBefore(element, next);
    }
  }

  #place(found: Found): void {
    let element = this.#elements.get(found.thing);
    if (!element) {
      element = make("div", {
        class: "rp-stop",
        role: "graphics-symbol",
        "aria-roledescription": found.kind === "mark" ? "point" : found.kind,
        "aria-label": this.say(found),
        tabindex: -1,
        focus: () => this.onFocus(this.#stops.find(({ thing }) => thing === found.thing) ?? found),
        blur: () => this.onFocus(null),
      });
      this.#elements.set(found.thing, element);
      this.host.append(element);
    }
    element.style.transform = `translate(${found.x}px, ${found.y}px)`;
  }

  #rove(): void {
    const current = this.current?.thing;
    for (const [thing, element] of this.#elements) element.tabIndex = thing === current ? 0 : -1;
  }

  #focus(): void {
    const found = this.current;
    if (found) this.#elements.get(found.thing)?.focus({ preventScroll: true });
  }

  /** Goes to a stop by its number; before the first is the last. */
  go(to: number): void {
    const count = this.#stops.length;
    if (count === 0) return;
    this.#current = ((to % count) + count) % count;
    if (count > MOST_SHAPES) {
      this.#clear();
      if (this.current) this.#place(this.current);
    }
    this.#rove();
    this.#focus();
  }

  step(by: number): void {
    this.go(this.#current + by);
  }

  last(): void {
    this.go(this.#stops.length - 1);
  }

  /** Makes a thing the one that the tabulator reaches, without moving the focus. */
  remember(found: Found): void {
    const index = this.#stops.findIndex(({ thing }) => thing === found.thing);
    if (index >= 0 && this.#stops.length <= MOST_SHAPES) {
      this.#current = index;
      this.#rove();
    }
  }
}
