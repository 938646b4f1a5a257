/** What is known of the selected subjects: figures, advice, doubts, source lines. */

import type { SourceLine, Subject, View } from "../document";
import { make } from "../dom";
import { join, select, type ViewStore } from "../state";
import { factsOf } from "./facts";

const MANY = 4; // subjects of which everything is shown
const PARTS = 12; // parts of a subject that are listed

const KINDS: Record<Subject["kind"], string> = {
  program: "Program",
  region: "Region",
  function: "Function",
  line: "Source line",
  rank: "Rank",
  machine: "Machine",
  case: "Case",
  operator: "Operator",
};

/** Returns the panel of a view, which follows its selection. */
export function panelOf(view: View, store: ViewStore): HTMLElement {
  const subjects = new Map(view.subjects.map((subject) => [subject.key, subject]));
  const explained = new Set<string>();
  const body = make("div", { class: "selected" });
  const panel = make("aside", { class: "panel", "aria-label": "Selected", tabindex: -1 }, body);

  const show = () => {
    const { selected, asked } = store.get();
    const chosen = selected.flatMap((key) => subjects.get(key) ?? []);
    if (asked) explained.add(asked);
    const parts = chosen
      .slice(0, MANY)
      .map((subject) => subjectOf(view, subject, store, explained));
    const more = chosen.length - parts.length;
    if (more > 0) parts.push(make("p", {}, `${more} more are selected.`));
    body.replaceChildren(...(parts.length > 0 ? parts : nothing(view)));
    if (asked) {
      const fact = body.querySelector<HTMLElement>(`[data-fact="${CSS.escape(asked)}"]`);
      fact?.scrollIntoView({ block: "nearest" });
      fact?.querySelector("summary")?.focus();
      store.set({ asked: "" });
    }
  };
  show();
  store.subscribe((now, before) => {
    if (now.selected !== before.selected || (now.asked !== before.asked && now.asked)) show();
  });
  return panel;
}

function nothing(view: View): HTMLElement[] {
  const text =
    view.subjects.length > 0
      ? "Select a point of the chart or a row of the table to see its figures, how they were computed, and advice."
      : "";
  const notes = view.notes.map((note) => make("li", {}, note));
  return [
    ...(text ? [make("p", { class: "hint" }, text)] : []),
    ...(notes.length > 0 ? [make("h3", {}, "Notes"), make("ul", {}, ...notes)] : []),
  ];
}

function subjectOf(
  view: View,
  subject: Subject,
  store: ViewStore,
  explained: Set<string>,
): HTMLElement {
  const toggle = (key: string, isOpen: boolean) => {
    if (isOpen) explained.add(key);
    else explained.delete(key);
  };
  return make(
    "section",
    { class: "subject", "aria-label": subject.name },
    headOf(view, subject, store),
    ...part(
      "Figures",
      [factsOf(subject.facts, (key) => explained.has(key), toggle)],
      subject.facts,
    ),
    ...part("What to do next", [adviceOf(subject)], subject.advice),
    ...part("Cautions", [cautionsOf(subject)], subject.cautions),
    ...ruledOutOf(
      "Ruled out",
      subject.ruled_out.filter(({ is_open }) => !is_open),
    ),
    ...ruledOutOf(
      "Not ruled out",
      subject.ruled_out.filter(({ is_open }) => is_open),
    ),
    ...part("Source lines", [linesOf(subject.lines)], subject.lines),
    ...partsOf(view, subject, store),
  );
}

function part(title: string, content: HTMLElement[], of: readonly unknown[]): HTMLElement[] {
  return of.length > 0 ? [make("h4", {}, title), ...content] : [];
}

function headOf(view: View, subject: Subject, store: ViewStore): HTMLElement {
  const share = subject.share === null ? null : `${Number((subject.share * 100).toPrecision(2))} %`;
  const kind = [KINDS[subject.kind] ?? subject.kind, share && `${share} of the time`];
  const parent = view.subjects.find(({ key }) => key === subject.parent);
  const levels = new Set(
    view.charts
      .flatMap(({ marks }) => marks)
      .flatMap((mark) => (mark.subject === subject.key ? (mark.tags?.level ?? []) : [])),
  );
  return make(
    "header",
    {},
    make("h3", {}, make("bdi", {}, subject.name)),
    make("p", { class: "kind" }, kind.filter(Boolean).join(", ")),
    parent ? make("p", {}, "Part of ", linkTo(parent, store)) : null,
    make(
      "p",
      { class: "actions" },
      levels.size > 1 ? joinButton(subject, store) : null,
      make("button", { type: "button", click: () => select(store, subject.key, true) }, "Deselect"),
    ),
  );
}

function joinButton(subject: Subject, store: ViewStore): HTMLElement {
  const button = make(
    "button",
    { type: "button", click: () => join(store, subject.key) },
    "Join its levels by a line",
  );
  const show = () =>
    button.setAttribute("aria-pressed", String(store.get().joined.includes(subject.key)));
  show();
  const stop = store.subscribe(() => (button.isConnected ? show() : stop()));
  return button;
}

function linkTo(subject: Subject, store: ViewStore): HTMLElement {
  return make(
    "button",
    { type: "button", class: "link", click: () => select(store, subject.key, false) },
    make("bdi", {}, subject.name),
  );
}

function adviceOf({ advice }: Subject): HTMLElement {
  const items = advice.map(({ seen, what, gain }) =>
    make(
      "li",
      {},
      make("strong", {}, what),
      gain ? make("span", { class: "gain" }, gain) : null,
      make("p", {}, seen),
    ),
  );
  return make("ol", { class: "advice" }, ...items);
}

function cautionsOf({ cautions }: Subject): HTMLElement {
  const ordered = [...cautions].sort((one, other) => Number(other.matters) - Number(one.matters));
  const items = ordered.map(({ code, text, matters }) =>
    make(
      "li",
      { class: matters ? "matters" : null },
      matters ? make("strong", {}, "May change the verdict: ") : null,
      text,
      " ",
      make("code", {}, code),
    ),
  );
  return make("ul", { class: "cautions" }, ...items);
}

function ruledOutOf(title: string, causes: Subject["ruled_out"]): HTMLElement[] {
  if (causes.length === 0) return [];
  const items = causes.flatMap(({ what, why }) => [make("dt", {}, what), make("dd", {}, why)]);
  return [
    make(
      "details",
      { class: "ruled-out" },
      make("summary", {}, `${title} (${causes.length})`),
      make("dl", {}, ...items),
    ),
  ];
}

function linesOf(lines: readonly SourceLine[]): HTMLElement {
  const names = [...new Set(lines.flatMap(({ facts }) => facts.map(({ name }) => name)))];
  const head = make(
    "tr",
    {},
    make("th", { scope: "col" }, "line"),
    ...names.map((name) => make("th", { scope: "col", class: "number" }, name)),
  );
  const rows = lines.map((line) => {
    const code = line.text === null ? null : make("code", {}, line.text);
    const place = make("span", { class: "place" }, make("bdi", {}, `${line.file}:${line.line}`));
    const cells = names.map((name) =>
      make("td", { class: "number" }, line.facts.find((fact) => fact.name === name)?.text ?? ""),
    );
    return make("tr", {}, make("th", { scope: "row" }, place, code), ...cells);
  });
  const table = make(
    "table",
    { "aria-label": "Source lines" },
    make("thead", {}, head),
    make("tbody", {}, ...rows),
  );
  return make(
    "div",
    { class: "lines", tabindex: 0, role: "region", "aria-label": "Source lines" },
    table,
  );
}

function partsOf(view: View, subject: Subject, store: ViewStore): HTMLElement[] {
  const parts = view.subjects
    .filter(({ parent }) => parent === subject.key)
    .sort((one, other) => (other.share ?? -1) - (one.share ?? -1));
  if (parts.length === 0) return [];
  const items = parts.slice(0, PARTS).map((one) => make("li", {}, linkTo(one, store)));
  const left = parts.length - items.length;
  if (left > 0) items.push(make("li", {}, `and ${left.toLocaleString("en")} more, in the table`));
  return [
    make("h4", {}, "Parts, by their share of the time"),
    make("ul", { class: "parts" }, ...items),
  ];
}
