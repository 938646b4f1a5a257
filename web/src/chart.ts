/** Draws one chart. */

import { ChartView } from "./chart/view";
import type { Chart, View } from "./document";
import type { ViewStore } from "./state";

/** A chart on the page. */
export interface Drawn {
  /** Returns the current view as an SVG document with everything that it needs. */
  toSvg(): string;
  /** Returns the current view as a PNG image. */
  toPng(): Promise<Blob>;
  /** Draws the chart for paper, or for the screen again. */
  print(isPrinting: boolean): void;
  /** Takes the chart away, with its listeners. */
  remove(): void;
}

/** Draws a chart into an empty host and keeps it in step with the store. */
export function drawChart(host: HTMLElement, chart: Chart, view: View, store: ViewStore): Drawn {
  return new ChartView(host, chart, view, store);
}
