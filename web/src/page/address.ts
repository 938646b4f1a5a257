/** The part of the address after `#`: the view and what is chosen there, so that it can be linked. */

import type { View } from "../document";
import { initialState, type ViewState } from "../state";

/** Returns the address of a view in a state; what is as at first is left out. */
export function addressOf(view: View, state: ViewState): string {
  const first = initialState(view);
  const parts = new URLSearchParams({ view: view.key });
  for (const { tag } of view.controls) {
    const chosen = state.chosen[tag] ?? [];
    if (chosen.join("\n") !== (first.chosen[tag] ?? []).join("\n"))
      for (const value of chosen.length > 0 ? chosen : [""]) parts.append(`tag.${tag}`, value);
  }
  for (const subject of state.selected) parts.append("selected", subject);
  for (const subject of state.joined) parts.append("joined", subject);
  if (state.runtimeShown !== 1) parts.set("runtime", String(state.runtimeShown));
  if (state.leastChange !== 0) parts.set("change", String(state.leastChange));
  if (!state.bySize) parts.set("sizes", "equal");
  if (state.search) parts.set("search", state.search);
  return `#${parts}`;
}

/** Returns the key of the view of an address; empty: it names none. */
export function viewOf(address: string): string {
  return new URLSearchParams(address.replace(/^#/u, "")).get("view") ?? "";
}

/** Returns what an address says of a view; what the view does not have is left out. */
export function stateOf(address: string, view: View): ViewState {
  const parts = new URLSearchParams(address.replace(/^#/u, ""));
  const first = initialState(view);
  const chosen = { ...first.chosen };
  for (const { tag, options, exclusive } of view.controls) {
    const given = parts.getAll(`tag.${tag}`);
    const values = given.filter((value) => options.some((option) => option.value === value));
    // An empty value says that nothing is chosen; unknown ones alone say nothing.
    const isNone = given.includes("") && !exclusive;
    if (isNone || (values.length > 0 && !exclusive) || values.length === 1) chosen[tag] = values;
  }
  const subjects = new Set(view.subjects.map(({ key }) => key));
  const known = (name: string) => parts.getAll(name).filter((key) => subjects.has(key));
  const runtime = Number(parts.get("runtime") ?? 1);
  const change = Number(parts.get("change") ?? 0);
  return {
    ...first,
    chosen,
    selected: known("selected"),
    joined: known("joined"),
    runtimeShown: runtime >= 0 && runtime <= 1 ? runtime : 1,
    leastChange: change >= 0 ? change : 0,
    bySize: parts.get("sizes") !== "equal",
    search: parts.get("search") ?? "",
  };
}
