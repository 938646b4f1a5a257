/** A slider that follows a view's state, and changes it. */

import { make } from "./dom";
import type { ViewState, ViewStore } from "./state";

/** What a slider is about. */
export interface Slider {
  id: string;
  label: string;
  title?: string;
  max: number;
  /** Returns where a state stands on the slider, and how that reads. */
  shown(state: ViewState): readonly [number, string];
  /** Puts what a place on the slider asks for into the store. */
  ask(place: number): void;
}

/** Returns a slider with its label and what it says. */
export function sliderOf(store: ViewStore, about: Slider): HTMLElement {
  const { id, label, title = null, max } = about;
  const text = make("output", { for: id });
  const slider = make("input", {
    type: "range",
    id,
    min: 0,
    max,
    step: 1,
    title,
    input: () => about.ask(slider.valueAsNumber),
  });
  const show = (state: ViewState) => {
    const [place, reads] = about.shown(state);
    if (slider.valueAsNumber === place && text.textContent === reads) return;
    slider.value = String(place);
    text.textContent = reads;
    slider.setAttribute("aria-valuetext", reads);
  };
  show(store.get());
  store.subscribe(show);
  return make("div", { class: "slider" }, make("label", { for: id }, label), slider, text);
}
