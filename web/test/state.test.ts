import { describe, expect, test } from "vitest";
import {
  initialState,
  isChosen,
  join,
  runtimeSubjects,
  Store,
  select,
  subjectFilter,
} from "../src/state";
import { subject, viewOf } from "./documents";

describe("isChosen", () => {
  test.each([
    [undefined, true],
    [{}, true],
    [{ level: "DRAM" }, true],
    [{ level: "L1" }, false],
    [{ level: "DRAM", cores: "2" }, true],
  ])("%j", (tags, expected) => {
    expect(isChosen(tags, initialState(viewOf()).chosen)).toBe(expected);
  });
});

describe("runtimeSubjects", () => {
  test("keeps the largest parts until they make up the share", () => {
    const view = viewOf(subject("a", 0.1), subject("b", 0.6), subject("c", 0.3));
    expect(runtimeSubjects(view, 1)).toBeNull();
    expect([...(runtimeSubjects(view, 0.9) ?? [])].sort()).toEqual(["b", "c"]);
    expect([...(runtimeSubjects(view, 0.5) ?? [])]).toEqual(["b"]);
    expect([...(runtimeSubjects(view, 0) ?? [])]).toEqual(["b"]);
  });

  test("keeps what has no known share, and compares siblings only", () => {
    const view = viewOf(subject("all", 1), subject("f", 0.9, "all"), subject("g", null, "all"));
    expect([...(runtimeSubjects(view, 0.5) ?? [])].sort()).toEqual(["all", "f", "g"]);
  });
});

test("subjectFilter lets through what is found and what has no subject", () => {
  const view = viewOf(subject("a", 0.1), subject("b", 0.9));
  const shown = subjectFilter(view, { ...initialState(view), found: new Set(["a"]) });
  expect([shown("a"), shown("b"), shown(""), shown(undefined)]).toEqual([true, false, true, true]);
});

describe("Store", () => {
  test("tells of changes, and of nothing else", () => {
    const store = new Store({ a: 1, b: 2 });
    const seen: number[] = [];
    const stop = store.subscribe((value, before) => seen.push(before.a, value.a));
    store.set({ a: 1 });
    store.set({ a: 3 });
    stop();
    store.set({ a: 4 });
    expect(seen).toEqual([1, 3]);
  });

  test("selects alone, adds and takes out", () => {
    const store = new Store(initialState(viewOf()));
    select(store, "a", false);
    select(store, "b", true);
    expect(store.get().selected).toEqual(["a", "b"]);
    select(store, "b", true);
    expect(store.get().selected).toEqual(["a"]);
    select(store, "a", false);
    expect(store.get().selected).toEqual([]);
    join(store, "a");
    expect(store.get().joined).toEqual(["a"]);
    join(store, "a");
    expect(store.get().joined).toEqual([]);
  });
});
