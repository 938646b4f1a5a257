/** What is said of the thing under the pointer or the focus. */

import type { Subject, View } from "../document";
import { make } from "../dom";
import type { Found } from "./hit";
import type { Pair } from "./scales";

const VERDICT = "verdict";

/** Returns the subject of a thing, where there is one. */
export function subjectOf(found: Found, view: View): Subject | null {
  const { subject } = found.thing;
  return subject ? (view.subjects.find(({ key }) => key === subject) ?? null) : null;
}

/** Returns what is said of a thing as one text, for readers who hear it. */
export function spoken(found: Found, view: View): string {
  const { name, summary } = found.thing;
  const subject = subjectOf(found, view);
  const facts = (subject?.facts ?? []).map(({ name, text }) => `${name} ${text}`);
  const first = [name || subject?.name || "", summary].filter(Boolean).join(": ");
  return [first, ...facts.slice(0, 4)].filter(Boolean).join("; ");
}

/** Fills a tooltip with what is known of a thing, and with so many facts of its subject. */
export function tell(host: HTMLElement, found: Found, view: View, mostFacts: number): void {
  const { name, summary } = found.thing;
  const subject = subjectOf(found, view);
  const rows: HTMLElement[] = [make("strong", {}, name || subject?.name || "")];
  if (summary) rows.push(make("p", {}, summary));
  const verdict = subject?.facts.find(({ key }) => key === VERDICT);
  if (verdict) rows.push(make("p", {}, verdict.text));
  const others = (subject?.facts ?? []).filter(({ key }) => key !== VERDICT);
  const facts = others.slice(0, mostFacts);
  if (facts.length > 0)
    rows.push(
      make(
        "dl",
        {},
        ...facts.flatMap(({ name, text }) => [make("dt", {}, name), make("dd", {}, text)]),
      ),
    );
  const rest = others.length - facts.length;
  if (rest > 0) rows.push(make("p", { class: "rp-more" }, `and ${rest} more: select it`));
  const [caution] = subject?.cautions.filter(({ matters }) => matters) ?? [];
  if (caution) rows.push(make("p", { class: "rp-caution" }, caution.text));
  const [advice] = subject?.advice ?? [];
  if (advice) rows.push(make("p", { class: "rp-advice" }, `What next: ${adviceText(advice)}`));
  host.replaceChildren(...rows);
}

function adviceText({ what, gain }: Subject["advice"][number]): string {
  return gain ? `${what} (${gain})` : what;
}

/** Puts a tooltip beside a place of a stage, where it covers as little as it can. */
export function putBeside(tooltip: HTMLElement, stage: HTMLElement, at: Pair, size: number): void {
  const [x, y] = at;
  const gap = size / 2 + 10;
  const room = stage.clientWidth;
  const wide = tooltip.offsetWidth;
  const isRight = x + gap + wide <= room;
  const isLeft = x - gap - wide >= 0;
  const beside = isRight || (!isLeft && x < room / 2) ? x + gap : x - gap - wide;
  tooltip.style.left = `${Math.max(Math.min(beside, room - wide), 0)}px`;
  // On a narrow screen it stands below, or above, what it speaks of.
  const high = tooltip.offsetHeight;
  const top =
    isRight || isLeft ? Math.max(Math.min(y - high / 2, stage.clientHeight - high), 0) : y + gap;
  tooltip.style.top = `${top}px`;
}
