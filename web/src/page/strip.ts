/** A small plot of samples, one dot each, along their axis. */

import { scaleLinear } from "d3-scale";
import { make, makeSvg } from "../dom";

const WIDTH = 280;
const HEIGHT = 46;
const MARGIN = 8;
const MOST = 2000; // dots; of more, every so-many-th by size is drawn

/** Returns a figure of samples, in the order of which the height tells: first ones on top. */
export function stripOf(name: string, samples: readonly number[], unit: string): HTMLElement {
  const ordered = [...samples].sort((one, other) => one - other);
  const [least, most] = [ordered[0] as number, ordered.at(-1) as number];
  const spare = least === most ? Math.abs(least) * 0.01 || 1 : 0;
  const x = scaleLinear([least - spare, most + spare], [MARGIN, WIDTH - MARGIN]);
  const step = Math.ceil(samples.length / MOST);
  const dots = samples.flatMap((sample, at) =>
    at % step === 0
      ? makeSvg("circle", {
          cx: x(sample).toFixed(1),
          cy: (4 + (22 * (at + 0.5)) / samples.length).toFixed(1),
          r: 2,
        })
      : [],
  );
  const ticks = x.ticks(3).filter((tick) => tick >= least - spare && tick <= most + spare);
  const format = x.tickFormat(3);
  const axis = ticks.flatMap((tick) => [
    makeSvg("line", { x1: x(tick), x2: x(tick), y1: 28, y2: 32 }),
    makeSvg("text", { x: x(tick), y: 43, "text-anchor": anchor(x(tick)) }, format(tick)),
  ]);
  const count =
    samples.length === 1 ? "1 sample" : `${samples.length.toLocaleString("en")} samples`;
  return make(
    "figure",
    { class: "strip" },
    makeSvg(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        role: "img",
        "aria-label": `${count} of ${name}, from ${short(least)} to ${short(most)} ${unit}`,
      },
      makeSvg("line", { x1: MARGIN, x2: WIDTH - MARGIN, y1: 28, y2: 28 }),
      ...axis,
      ...dots,
    ),
    make("figcaption", {}, `${count} in ${unit || "no unit"}, the first at the top`),
  );
}

function anchor(x: number): string {
  return x < 24 ? "start" : x > WIDTH - 24 ? "end" : "middle";
}

function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}
