/** Which part of the plane was seen before, so that a zoom can be taken back. */

import { isSameWindow, type Window } from "./scales";

const MOST = 100;
/** Milliseconds within which steps of a wheel are one. */
const ONE_GESTURE = 600;

export class History {
  readonly #past: Window[] = [];
  #gesture: { name: string; at: number } = { name: "", at: 0 };

  constructor(public window: Window) {}

  /** Goes to a window; steps of one gesture that follow each other are taken back together. */
  go(window: Window, gesture = "", now = performance.now()): void {
    if (isSameWindow(window, this.window)) return;
    const { name, at } = this.#gesture;
    if (!gesture || gesture !== name || now - at > ONE_GESTURE) {
      this.#past.push(this.window);
      if (this.#past.length > MOST) this.#past.shift();
    }
    this.#gesture = { name: gesture, at: now };
    this.window = window;
  }

  undo(): void {
    this.window = this.#past.pop() ?? this.window;
    this.#gesture = { name: "", at: 0 };
  }
}
