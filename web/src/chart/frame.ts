/** The elements of a chart on the page: title, tools, layers of the plot, tooltip, notes. */

import type { Chart } from "../document";
import { make } from "../dom";
import type { Tool } from "./tools";

export interface Frame {
  root: HTMLElement;
  stage: HTMLElement;
  /** Everything below the marks, the marks if they are few, and labels. */
  below: SVGSVGElement;
  /** The marks if they are many, and over them those that are selected. */
  canvas: HTMLCanvasElement;
  bright: HTMLCanvasElement;
  above: SVGSVGElement;
  /** Rings around what is pointed at, and the rectangle of a zoom. */
  pointing: SVGSVGElement;
  plot: HTMLElement;
  tooltip: HTMLElement;
  badges: HTMLElement;
  notes: HTMLElement;
  said: HTMLElement;
}

let made = 0;

/** Returns a name that no other chart of the page has. */
export function freshName(): string {
  made += 1;
  return `rp-chart-${made}`;
}

const HELP =
  "Arrow keys go from point to point. Shift and arrow keys move the view, plus and minus zoom, " +
  "0 shows all, u undoes. Enter joins the levels of a point, space selects it.";

/** Makes the elements of a chart; they hold nothing yet. */
export function frameOf(
  chart: Chart,
  name: string,
  tools: readonly Tool[],
  key: HTMLElement,
): Frame {
  const below = layer("rp-below");
  const above = layer("rp-above");
  const pointing = layer("rp-pointing");
  const canvas = make("canvas", { class: "rp-canvas", "aria-hidden": "true" });
  const bright = make("canvas", { class: "rp-canvas", "aria-hidden": "true" });
  const plot = make("div", {
    class: "rp-plot",
    role: "graphics-document",
    "aria-roledescription": "chart",
    "aria-label": description(chart),
    "aria-describedby": `${name}-help`,
  });
  const tooltip = make("div", {
    class: "rp-tooltip",
    role: "tooltip",
    id: `${name}-tooltip`,
    hidden: true,
  });
  const badges = make("div", { class: "rp-badges" });
  const stage = make("div", { class: "rp-stage" }, canvas, bright, plot, badges, tooltip);
  stage.prepend(below);
  bright.after(above, pointing);
  const notes = make("div", { class: "rp-notes" });
  const said = make("div", { class: "rp-hidden", role: "status", "aria-live": "polite" });
  const title = make("h3", { id: `${name}-title` }, chart.title);
  const subtitle = chart.subtitle ? make("p", { class: "rp-subtitle" }, chart.subtitle) : null;
  const root = make(
    "figure",
    { class: "rp-chart", "aria-labelledby": `${name}-title` },
    make("figcaption", {}, title, subtitle),
    toolbar(chart, tools),
    stage,
    key,
    notes,
    said,
    make("p", { class: "rp-hidden", id: `${name}-help` }, HELP),
  );
  return {
    root,
    stage,
    below,
    canvas,
    bright,
    above,
    pointing,
    plot,
    tooltip,
    badges,
    notes,
    said,
  };
}

function layer(name: string): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", `rp-layer ${name}`);
  svg.setAttribute("aria-hidden", "true");
  return svg;
}

function toolbar(chart: Chart, tools: readonly Tool[]): HTMLElement {
  const buttons = tools.map(({ text, title, act, isSwitch }) => {
    const button = make("button", { type: "button", title, "aria-label": title }, text);
    if (isSwitch) button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      act();
      if (isSwitch) button.setAttribute("aria-pressed", String(button.ariaPressed !== "true"));
    });
    return button;
  });
  const about = { class: "rp-tools", role: "toolbar", "aria-label": `View of ${chart.title}` };
  return make("div", about, ...buttons);
}

/** Returns what a chart shows, for readers who do not see it. */
export function description(chart: Chart): string {
  const counted = [
    [chart.marks.filter(({ name, subject }) => subject || name).length, "point"],
    [chart.lines.filter(({ name }) => name).length, "line"],
    [chart.bars.length, "bar"],
  ] as const;
  const content = counted
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}${count === 1 ? "" : "s"}`);
  const axes = [
    chart.x.label && `${chart.x.label} across`,
    chart.y.label && `${chart.y.label} upwards`,
    chart.right?.label && `${chart.right.label} at the right`,
  ];
  return [chart.title, chart.subtitle, axes.filter(Boolean).join(", "), content.join(", ")]
    .filter(Boolean)
    .join(". ");
}
