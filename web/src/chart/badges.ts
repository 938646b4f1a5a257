/** Names the points that are not seen, at a button that shows them. */

import type { Mark, Place } from "../document";
import { make } from "../dom";
import { isData, placeOf } from "./marks";

const MOST_NAMES = 3;
const MOST_IN_TITLE = 30;

/** Returns a badge, or nothing where all points are seen. */
export function badgesOf(
  outside: readonly Mark[],
  show: (places: readonly Place[]) => void,
): HTMLElement[] {
  const points = outside.filter(isData);
  if (points.length === 0) return [];
  const names = [...new Set(points.map(({ label, name }) => label?.text || name))];
  const rest = names.length - MOST_NAMES;
  const more = rest > 0 ? ` and ${rest} more` : "";
  const text = `outside: ${names.slice(0, MOST_NAMES).join(", ")}${more}`;
  const title = `Show ${names.slice(0, MOST_IN_TITLE).join(", ")}`;
  const click = (): void => show(points.map(placeOf));
  return [make("button", { type: "button", class: "rp-badge", title, click }, text)];
}
