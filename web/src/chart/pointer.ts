/** Pointers on a plot: wheel, drag, rectangle, pinch, tap and double click, as what they mean. */

import type { Pair } from "./scales";

/** What a reader wants; places are in pixels from the upper left corner of the plot. */
export interface Wishes {
  zoom(factor: number, at: Pair, gesture: string): void;
  pan(by: Pair, gesture: string): void;
  /** A rectangle that is being drawn; null: no longer. */
  outline(from: Pair, to: Pair | null): void;
  rectangle(from: Pair, to: Pair): void;
  hover(at: Pair | null, isTouch: boolean): void;
  click(at: Pair, isAdded: boolean, isTouch: boolean): void;
  join(at: Pair): void;
  isRectangle(): boolean;
}

/** Pixels that a pointer may move in a click. */
const STILL = 4;
const LEAST_RECTANGLE = 8;
/** Milliseconds after the page was scrolled in which a wheel goes on doing so. */
const SCROLLING = 400;
const WHEEL_STEP = 0.0016;
const LINE = 16;

/** Listens to pointers until the function that is returned is called. */
export function listen(plot: HTMLElement, wishes: Wishes): () => void {
  const pointers = new Pointers(plot, wishes);
  const stop = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(
    name: K,
    act: (event: HTMLElementEventMap[K]) => void,
    options: AddEventListenerOptions = {},
  ): void => plot.addEventListener(name, act, { signal: stop.signal, ...options });
  on("pointerdown", (event) => pointers.down(event));
  on("pointermove", (event) => pointers.move(event));
  on("pointerup", (event) => pointers.up(event));
  on("pointercancel", (event) => pointers.cancel(event));
  on("pointerleave", (event) => event.pointerType === "mouse" && wishes.hover(null, false));
  on("dblclick", (event) => wishes.join(pointers.place(event)));
  on("wheel", (event) => pointers.wheel(event), { passive: false });
  window.addEventListener("scroll", () => pointers.scrolled(), {
    signal: stop.signal,
    passive: true,
  });
  return () => stop.abort();
}

class Pointers {
  readonly #down = new Map<number, Pair>();
  #start: Pair | null = null;
  #isMoved = false;
  #isRectangle = false;
  #gesture = 0;
  #scrolledAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly plot: HTMLElement,
    private readonly wishes: Wishes,
  ) {}

  place(event: MouseEvent): Pair {
    const { left, top } = this.plot.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  scrolled(): void {
    this.#scrolledAt = performance.now();
  }

  down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const at = this.place(event);
    this.#down.set(event.pointerId, at);
    this.plot.setPointerCapture(event.pointerId);
    if (this.#down.size > 1) {
      this.#isMoved = true;
      return;
    }
    this.#start = at;
    this.#isMoved = false;
    this.#gesture += 1;
    this.#isRectangle = event.shiftKey || this.wishes.isRectangle();
  }

  move(event: PointerEvent): void {
    const at = this.place(event);
    const before = this.#down.get(event.pointerId);
    if (!before) {
      if (event.pointerType === "mouse") this.wishes.hover(at, false);
      return;
    }
    const start = this.#start ?? before;
    if (Math.hypot(at[0] - start[0], at[1] - start[1]) > STILL) this.#isMoved = true;
    if (!this.#isMoved) return;
    const others = [...this.#down].filter(([id]) => id !== event.pointerId);
    this.#down.set(event.pointerId, at);
    const [other] = others;
    if (other) this.#pinch(before, at, other[1]);
    else if (this.#isRectangle) this.wishes.outline(start, at);
    else this.wishes.pan([at[0] - before[0], at[1] - before[1]], `drag ${this.#gesture}`);
  }

  #pinch(before: Pair, at: Pair, other: Pair): void {
    const wide = (one: Pair) => Math.max(Math.hypot(one[0] - other[0], one[1] - other[1]), 1);
    const middle: Pair = [(at[0] + other[0]) / 2, (at[1] + other[1]) / 2];
    const gesture = `drag ${this.#gesture}`;
    this.wishes.pan([(at[0] - before[0]) / 2, (at[1] - before[1]) / 2], gesture);
    this.wishes.zoom(wide(at) / wide(before), middle, gesture);
  }

  up(event: PointerEvent): void {
    const wasDown = this.#down.delete(event.pointerId);
    if (!wasDown || this.#down.size > 0) return;
    const at = this.place(event);
    const start = this.#start ?? at;
    const isTouch = event.pointerType !== "mouse";
    this.#start = null;
    if (!this.#isMoved) {
      this.wishes.click(at, event.ctrlKey || event.metaKey, isTouch);
    } else if (this.#isRectangle) {
      this.wishes.outline(start, null);
      const isLarge = [0, 1].every(
        (i) => Math.abs((at[i] ?? 0) - (start[i] ?? 0)) > LEAST_RECTANGLE,
      );
      if (isLarge) this.wishes.rectangle(start, at);
    }
  }

  cancel(event: PointerEvent): void {
    this.#down.delete(event.pointerId);
    if (this.#start) this.wishes.outline(this.#start, null);
    this.#start = null;
  }

  wheel(event: WheelEvent): void {
    // Who scrolls the page past a chart does not want to zoom.
    if (!event.ctrlKey && performance.now() - this.#scrolledAt < SCROLLING) return;
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? 400 : 1);
    const faster = event.ctrlKey ? 5 : 1;
    this.wishes.zoom(Math.exp(-pixels * WHEEL_STEP * faster), this.place(event), "wheel");
  }
}
