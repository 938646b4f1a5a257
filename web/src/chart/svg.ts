/** Items as SVG: the same for the page and for files. Texts of users are escaped here alone. */

import type { Item, PathItem, TextItem } from "./items";
import type { Colouring, Paint } from "./look";
import { round } from "./symbols";

export const FONTS = "system-ui, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";
const HATCH = 5;

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML forbids them
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\p{Surrogate}]/gu;
const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Returns a text as the content of an element or of an attribute. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => ESCAPES[letter] ?? letter).replace(FORBIDDEN, "�");
}

/** How items become SVG; the names begin those of a picture's clips and patterns. */
export interface Writing {
  colour: Colouring;
  name: string;
}

/** Returns items one after the other; those within the frame are clipped by `NAME-frame`. */
export function svgOf(items: readonly Item[], how: Writing): string {
  return items
    .map((item) => (item.kind === "path" ? pathOf(item, how) : textOf(item, how)))
    .join("");
}

function pathOf(item: PathItem, { colour, name }: Writing): string {
  const of = [
    `d="${item.d}"`,
    item.at ? `transform="translate(${item.at[0]},${item.at[1]})"` : "",
    `fill="${item.fill ? colour(item.fill) : "none"}"`,
    item.stroke ? `stroke="${colour(item.stroke)}" stroke-width="${round(item.width ?? 1)}"` : "",
    item.dashes?.length ? `stroke-dasharray="${item.dashes.map(round).join(" ")}"` : "",
    item.opacity !== undefined && item.opacity < 1 ? `opacity="${item.opacity}"` : "",
  ];
  const path = `<path ${of.filter(Boolean).join(" ")}/>`;
  const hatched = item.hatch ? `${path}${hatchOf(item, name)}` : path;
  return item.isClipped ? `<g clip-path="url(#${name}-frame)">${hatched}</g>` : hatched;
}

function hatchOf(item: PathItem, name: string): string {
  const place = item.at ? ` transform="translate(${item.at[0]},${item.at[1]})"` : "";
  const opacity =
    item.opacity !== undefined && item.opacity < 1 ? ` opacity="${item.opacity}"` : "";
  return `<path d="${item.d}"${place}${opacity} fill="url(#${hatchName(name, item.hatch ?? "ink")})"/>`;
}

function hatchName(name: string, paint: Paint): string {
  return `${name}-hatch-${paint.replaceAll(" ", "-")}`;
}

function textOf(item: TextItem, { colour }: Writing): string {
  const turn = item.angle ? ` transform="rotate(${item.angle} ${item.x} ${item.y})"` : "";
  const halo = item.halo
    ? ` stroke="${colour(item.halo)}" stroke-width="3.5" stroke-linejoin="round" paint-order="stroke"`
    : "";
  const bold = item.isBold ? ' font-weight="bold"' : "";
  const opacity =
    item.opacity !== undefined && item.opacity < 1 ? ` opacity="${item.opacity}"` : "";
  // Not dominant-baseline, which other programs than browsers leave out.
  return (
    `<text x="${item.x}" y="${round(item.y + item.size * 0.35)}" font-size="${round(item.size)}"` +
    ` text-anchor="${item.anchor}" fill="${colour(item.ink)}"${bold}${turn}${halo}${opacity}>` +
    `${escaped(item.text)}</text>`
  );
}

/** Returns the clip of the frame and the patterns that items need. */
export function definitions(
  items: readonly Item[],
  how: Writing & { width: number; height: number },
): string {
  const paints = new Set(
    items.flatMap((item) => (item.kind === "path" && item.hatch ? [item.hatch] : [])),
  );
  const patterns = [...paints].map(
    (paint) =>
      `<pattern id="${hatchName(how.name, paint)}" width="${HATCH}" height="${HATCH}" ` +
      `patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0,0V${HATCH}" ` +
      `stroke="${how.colour(paint)}" stroke-width="1.6"/></pattern>`,
  );
  return (
    `<defs><clipPath id="${how.name}-frame"><rect width="${round(how.width)}" ` +
    `height="${round(how.height)}"/></clipPath>${patterns.join("")}</defs>`
  );
}
