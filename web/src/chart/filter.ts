/** What of a chart is shown, and how strongly, by what a reader has chosen. */

import type { Area, Bar, Chart, Entry, Label, Line, Mark, Tagged, Tags, View } from "../document";
import { isChosen, subjectFilter, type ViewState } from "../state";
import { lineInk, paintOf } from "./look";

/** The things of a chart that are drawn. */
export interface Shown {
  areas: readonly Area[];
  lines: readonly Line[];
  marks: readonly Mark[];
  bars: readonly Bar[];
}

/** Marks of one subject that a line joins, from left to right. */
export interface Joined {
  subject: string;
  marks: readonly Mark[];
}

export interface Filtered extends Shown {
  joined: readonly Joined[];
  /** Labels in place of those of the marks: of levels that are joined, and of what is selected. */
  labels: ReadonlyMap<Mark, Label>;
  /** Whether a thing is drawn weakly, since others are selected. */
  isFaint(thing: Tagged): boolean;
}

const LEVEL = "level";
/** Rank of labels that are placed before all others. */
const FIRST = -1;

/** Returns what is shown; entries of the key that are switched off hide what they speak of. */
export function filtered(
  chart: Chart,
  view: View,
  state: ViewState,
  hidden: ReadonlySet<Entry>,
): Filtered {
  const isSubject = subjectFilter(view, state);
  const off = [...hidden];
  const joined = joinedOf(chart, state, isSubject);
  const joinedMarks = new Set(joined.flatMap(({ marks }) => marks));
  const passes = (thing: Tagged): boolean =>
    isChosen(thing.tags, state.chosen) && isSubject(thing.subject);
  const selected = new Set(state.selected);
  const labels = new Map([
    ...selectedLabels(chart.marks, selected),
    ...joined.flatMap((of) => levelLabels(of, view)),
  ]);
  return {
    labels,
    areas: chart.areas.filter(passes),
    lines: chart.lines.filter((line) => passes(line) && !off.some((entry) => ofLine(entry, line))),
    marks: chart.marks.filter(
      (mark) =>
        joinedMarks.has(mark) || (passes(mark) && !off.some((entry) => ofMark(entry, mark))),
    ),
    bars: chart.bars.filter((bar) => passes(bar) && !off.some((entry) => ofBar(entry, bar))),
    joined,
    isFaint: ({ subject }) => selected.size > 0 && !!subject && !selected.has(subject),
  };
}

/** Returns the marks of joined subjects at all levels, also of those that are not chosen. */
function joinedOf(chart: Chart, state: ViewState, isSubject: (key?: string) => boolean): Joined[] {
  return state.joined
    .filter((subject) => isSubject(subject))
    .map((subject) => {
      const own = chart.marks.filter(
        (mark) =>
          mark.subject === subject &&
          mark.shape !== "cap" &&
          isChosen(without(mark.tags, LEVEL), state.chosen),
      );
      const levelled = own.filter((mark) => mark.tags?.[LEVEL] !== undefined);
      const marks = levelled.length > 1 ? levelled : own;
      return { subject, marks: marks.toSorted((one, other) => one.at[0] - other.at[0]) };
    })
    .filter(({ marks }) => marks.length > 1);
}

/** Returns the labels of what is selected, which are placed before all others. */
function selectedLabels(marks: readonly Mark[], selected: ReadonlySet<string>): [Mark, Label][] {
  if (selected.size === 0) return [];
  return marks.flatMap((mark): [Mark, Label][] =>
    mark.label && mark.subject && selected.has(mark.subject)
      ? [[mark, { ...mark.label, rank: FIRST, is_optional: false }]]
      : [],
  );
}

/** Returns the names of joined levels; the rightmost keeps that of its mark beside it. */
function levelLabels({ marks }: Joined, view: View): [Mark, Label][] {
  const options = view.controls.find(({ tag }) => tag === LEVEL)?.options ?? [];
  return marks.flatMap((mark, index): [Mark, Label][] => {
    const level = mark.tags?.[LEVEL];
    if (level === undefined) return [];
    const title = options.find(({ value }) => value === level)?.title ?? level;
    const own = index === marks.length - 1 && mark.label ? `${mark.label.text}: ` : "";
    const look = { where: null, is_bold: false, is_optional: false };
    return [[mark, { text: own + title, short: title, rank: FIRST, ...look }]];
  });
}

function without(tags: Tags | undefined, tag: string): Tags {
  return Object.fromEntries(Object.entries(tags ?? {}).filter(([name]) => name !== tag));
}

/** Returns whether an entry of the key speaks of anything that can be switched off. */
export function governs(entry: Entry, chart: Chart): boolean {
  return (
    chart.lines.some((line) => ofLine(entry, line)) ||
    chart.marks.some((mark) => ofMark(entry, mark)) ||
    chart.bars.some((bar) => ofBar(entry, bar))
  );
}

/** Returns whether an entry and a thing agree by subject or tags; null: the entry has neither. */
function agrees(entry: Entry, thing: Tagged): boolean | null {
  const tags = Object.entries(entry.tags ?? {});
  if (!entry.subject && tags.length === 0) return null;
  if (entry.subject && entry.subject !== thing.subject) return false;
  return tags.every(([tag, value]) => thing.tags?.[tag] === value);
}

function ofLine(entry: Entry, line: Line): boolean {
  const known = agrees(entry, line);
  if (known !== null) return known;
  if (entry.line === null) return isSeries(entry) && line.ink === entry.ink;
  const isInk = entry.ink === null || paintOf(entry.ink) === paintOf(lineInk(line.kind, line.ink));
  return entry.line === line.kind && isInk && (entry.shape === null || entry.shape === line.shape);
}

function ofMark(entry: Entry, mark: Mark): boolean {
  const known = agrees(entry, mark);
  if (known !== null) return known;
  if (isSeries(entry)) return mark.ink === entry.ink;
  if (entry.shape === null || entry.line !== null) return false;
  const isInk = entry.ink === null || mark.ink === entry.ink;
  return entry.shape === mark.shape && entry.face === mark.face && isInk;
}

function ofBar(entry: Entry, bar: Bar): boolean {
  const known = agrees(entry, bar);
  if (known !== null) return known;
  return (
    entry.line === null &&
    entry.shape === "square" &&
    bar.ink === entry.ink &&
    bar.face === entry.face
  );
}

/** Returns whether an entry speaks of a whole series, whose colour is its own. */
function isSeries(entry: Entry): boolean {
  const isWhole = entry.line === null && entry.shape !== "square" && !entry.is_part;
  return typeof entry.ink === "number" && isWhole;
}
