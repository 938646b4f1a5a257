/** What a reader has chosen: one store for each view, and one for the page. */

import type { Tags, View } from "./document";

/** What a reader has chosen in a view. */
export interface ViewState {
  /** Values shown, by tag. */
  chosen: Readonly<Record<string, readonly string[]>>;
  /** Keys of subjects. */
  selected: readonly string[];
  /** Subjects whose marks at several levels are joined by a line. */
  joined: readonly string[];
  /** Key of the subject under the pointer or the focus. */
  hovered: string | null;
  /** Share of the time whose largest parts are shown, from 0 to 1. */
  runtimeShown: number;
  /** Whether marks are sized by their share of the time. */
  bySize: boolean;
  /** Least relative change of the rows that are shown, where a table has changes. */
  leastChange: number;
  /** Words and value filters, as written. */
  search: string;
  /** Keys of the subjects that the search lets through; null: all. */
  found: ReadonlySet<string> | null;
  /** Key of the fact of the selected subject that is explained; empty: none. */
  asked: string;
}

export type Theme = "system" | "light" | "dark";

/** What a reader has chosen for the page. */
export interface PageState {
  /** Key of the view. */
  view: string;
  theme: Theme;
}

/** A value, and those who are told when it changes. */
export class Store<T extends object> {
  #value: T;
  readonly #listeners = new Set<(value: T, before: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get(): T {
    return this.#value;
  }

  /** Changes some fields; nobody is told when none differs. */
  set(change: Partial<T>): void {
    const before = this.#value;
    const keys = Object.keys(change) as (keyof T)[];
    if (keys.every((key) => Object.is(before[key], change[key]))) return;
    this.#value = { ...before, ...change };
    for (const listener of this.#listeners) listener(this.#value, before);
  }

  /** Tells of changes until the function that is returned is called. */
  subscribe(listener: (value: T, before: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

export type ViewStore = Store<ViewState>;

/** Returns what is shown of a view at first. */
export function initialState(view: View): ViewState {
  return {
    chosen: Object.fromEntries(view.controls.map(({ tag, initial }) => [tag, initial])),
    selected: [],
    joined: [],
    hovered: null,
    runtimeShown: 1,
    bySize: true,
    leastChange: 0,
    search: "",
    found: null,
    asked: "",
  };
}

/** Returns whether each tag has a value that is chosen; tags without a control are not asked. */
export function isChosen(tags: Tags | undefined, chosen: ViewState["chosen"]): boolean {
  return Object.entries(tags ?? {}).every(([tag, value]) => chosen[tag]?.includes(value) ?? true);
}

/**
 * Returns the subjects that make up a share of the time, largest first, with those of unknown
 * share; null: all. A subject whose time is part of another's is compared with its siblings only.
 */
export function runtimeSubjects(view: View, runtimeShown: number): ReadonlySet<string> | null {
  if (runtimeShown >= 1) return null;
  const shown = new Set<string>();
  for (const family of grouped(view.subjects, ({ parent }) => parent).values()) {
    const known = family.filter((subject) => subject.share !== null);
    for (const subject of family) if (subject.share === null) shown.add(subject.key);
    known.sort((one, other) => (other.share ?? 0) - (one.share ?? 0));
    const whole = known.reduce((sum, { share }) => sum + (share ?? 0), 0);
    let before = 0;
    for (const { key, share } of known) {
      if (before < runtimeShown * whole || before === 0) shown.add(key);
      before += share ?? 0;
    }
  }
  return shown;
}

function grouped<T, K>(values: readonly T[], keyOf: (value: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group) group.push(value);
    else groups.set(keyOf(value), [value]);
  }
  return groups;
}

/** Returns a function that says whether a subject is shown; what has no subject always is. */
export function subjectFilter(view: View, state: ViewState): (subject?: string) => boolean {
  const running = runtimeSubjects(view, state.runtimeShown);
  const { found } = state;
  return (subject) =>
    !subject || ((running?.has(subject) ?? true) && (found?.has(subject) ?? true));
}

/** Selects a subject alone, or adds it to the others or takes it out of them. */
export function select(store: ViewStore, subject: string, isAdded: boolean): void {
  const { selected } = store.get();
  const isSelected = selected.includes(subject);
  if (isAdded) {
    const others = selected.filter((key) => key !== subject);
    store.set({ selected: isSelected ? others : [...others, subject] });
  } else {
    store.set({ selected: isSelected && selected.length === 1 ? [] : [subject] });
  }
}

/** Joins the marks of a subject by a line, or takes the line away. */
export function join(store: ViewStore, subject: string): void {
  const { joined } = store.get();
  store.set({
    joined: joined.includes(subject)
      ? joined.filter((key) => key !== subject)
      : [...joined, subject],
  });
}
