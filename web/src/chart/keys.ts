/** The key below a chart: a list whose entries switch off what they speak of. */

import type { Chart, Entry } from "../document";
import { make } from "../dom";
import { governs } from "./filter";
import { pageColours, type Sizes } from "./look";
import { entryPaint, sampleItems, sampleWidth } from "./samples";
import { definitions, svgOf } from "./svg";

/** Returns a list of the entries; it tells which entry is switched. */
export function keyList(
  chart: Chart,
  sizes: Sizes,
  name: string,
  onSwitch: (entry: Entry) => void,
): { list: HTMLElement; show(hidden: ReadonlySet<Entry>): void } {
  const buttons = new Map<Entry, HTMLElement>();
  const rows = chart.key.map((entry, index) => {
    const content = [
      sample(entry, sizes, `${name}-key-${index}`),
      lead(entry),
      make("span", {}, entry.text),
    ];
    const classes = `${entry.is_part ? "rp-part " : ""}${entry.is_abreast ? "rp-abreast" : ""}`;
    if (!governs(entry, chart)) return make("li", { class: classes }, make("span", {}, ...content));
    const press = {
      type: "button",
      "aria-pressed": "true",
      title: "Show or hide",
      click: () => onSwitch(entry),
    };
    const button = make("button", press, ...content);
    buttons.set(entry, button);
    return make("li", { class: classes }, button);
  });
  return {
    list: make("ul", { class: "rp-key", "aria-label": "Key" }, ...rows),
    show(hidden) {
      for (const [entry, button] of buttons)
        button.setAttribute("aria-pressed", String(!hidden.has(entry)));
    },
  };
}

function lead(entry: Entry): HTMLElement | null {
  if (!entry.lead) return null;
  const letter = make("b", {}, entry.lead);
  letter.style.color = pageColours(entryPaint(entry));
  return letter;
}

function sample(entry: Entry, sizes: Sizes, name: string): HTMLElement | null {
  const width = sampleWidth(entry, sizes);
  if (width === 0) return null;
  const items = sampleItems(entry, sizes);
  const writing = { colour: pageColours, name };
  const half = sizes.font * 0.7;
  const place = make("span", { class: "rp-sample", "aria-hidden": "true" });
  place.innerHTML =
    `<svg width="${width}" height="${2 * half}" viewBox="-1 ${-half} ${width} ${2 * half}">` +
    `${definitions(items, { ...writing, width: 0, height: 0 })}${svgOf(items, writing)}</svg>`;
  return place;
}
