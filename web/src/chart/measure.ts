/** How wide texts are on this page. */

import type { Measure } from "./items";
import { FONTS } from "./svg";

/** Returns a function that measures texts in the fonts of pictures, and remembers. */
export function measurer(): Measure {
  const context = document.createElement("canvas").getContext("2d");
  const known = new Map<string, number>();
  const at = 100;
  return (text, size, isBold = false) => {
    const name = `${isBold} ${text}`;
    let width = known.get(name);
    if (width === undefined) {
      if (context) context.font = `${isBold ? "bold " : ""}${at}px ${FONTS}`;
      // About the width of letters where nothing can be measured.
      width = (context?.measureText(text).width ?? text.length * at * 0.56) / at;
      known.set(name, width);
    }
    return width * size;
  };
}
