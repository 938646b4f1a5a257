/** Facts, each with how it was computed, from what, and from which samples. */

import type { Fact } from "../document";
import { make } from "../dom";
import { stripOf } from "./strip";

/** Returns a list of facts; `isOpen` says which are explained at first, `toggle` hears of changes. */
export function factsOf(
  facts: readonly Fact[],
  isOpen: (key: string) => boolean = () => false,
  toggle: (key: string, isOpen: boolean) => void = () => {},
): HTMLElement {
  return make(
    "div",
    { class: "facts" },
    ...facts.map((fact) => factOf(fact, isOpen(fact.key), toggle)),
  );
}

function factOf(
  fact: Fact,
  isOpen: boolean,
  toggle: (key: string, isOpen: boolean) => void,
): HTMLElement {
  const line = [
    make("span", { class: "name" }, fact.name),
    make("bdi", { class: fact.text.startsWith("unknown") ? "value unknown" : "value" }, fact.text),
  ];
  const reasons = reasonsOf(fact);
  if (reasons.length === 0) return make("div", { class: "fact", "data-fact": fact.key }, ...line);
  const details = make(
    "details",
    {
      class: "fact",
      "data-fact": fact.key,
      open: isOpen,
      toggle: () => toggle(fact.key, details.open),
    },
    make("summary", { title: "How was this computed?" }, ...line),
    make("div", { class: "reasons" }, ...reasons),
  );
  return details;
}

function reasonsOf(fact: Fact): HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (fact.how) parts.push(make("p", {}, fact.how));
  if (fact.inputs.length > 0) parts.push(pairs(fact.inputs));
  if (fact.samples !== null && fact.samples.length > 0)
    parts.push(stripOf(fact.name, fact.samples, fact.samples_unit));
  if (fact.source) parts.push(make("p", { class: "source" }, `Source: ${fact.source}`));
  return parts;
}

/** Returns names and texts as a list of definitions. */
export function pairs(inputs: readonly { name: string; text: string }[]): HTMLElement {
  const parts = inputs.flatMap(({ name, text }) => [
    make("dt", {}, make("bdi", {}, name)),
    make("dd", {}, make("bdi", {}, text)),
  ]);
  return make("dl", {}, ...parts);
}
