/** The buttons above a chart. */

import type { Keys } from "./keyboard";

export interface Tool {
  text: string;
  title: string;
  act(): void;
  /** Whether it stays pressed. */
  isSwitch?: boolean;
}

/** What buttons do besides what keys do, too. */
export interface Acts extends Pick<Keys, "zoom" | "all" | "undo"> {
  /** Begins or ends that a drag draws a rectangle. */
  switchRectangle(): void;
  saveSvg(): void;
  savePng(): void;
}

export function toolsOf(acts: Acts): Tool[] {
  return [
    { text: "+", title: "Zoom in (+)", act: () => acts.zoom(true) },
    { text: "−", title: "Zoom out (−)", act: () => acts.zoom(false) },
    {
      text: "⬚",
      title: "Zoom to a rectangle (or Shift and drag)",
      isSwitch: true,
      act: acts.switchRectangle,
    },
    { text: "⤢", title: "Show all (0)", act: acts.all },
    { text: "↶", title: "Undo (u)", act: acts.undo },
    { text: "SVG", title: "Save this view as SVG", act: acts.saveSvg },
    { text: "PNG", title: "Save this view as PNG", act: acts.savePng },
  ];
}
