/** What a reader chooses about a view: levels, bandwidths, cores, the runtime shown. */

import type { Control, View } from "../document";
import { make } from "../dom";
import { sliderOf } from "../slider";
import type { ViewState, ViewStore } from "../state";

const FEW = 5; // options that stand beside each other

/** Returns the controls of a view; null: it has none. */
export function controlsOf(view: View, store: ViewStore): HTMLElement | null {
  const parts = view.controls
    .filter(({ options }) => options.length > 1)
    .map((control) => controlOf(view, control, store));
  const shares = view.subjects.filter(({ share }) => share !== null);
  if (shares.length > 1) parts.push(runtimeOf(view, store));
  if (shares.length > 0 && view.charts.some(({ marks }) => marks.length > 0))
    parts.push(sizeOf(store));
  if (parts.length === 0) return null;
  const box = make(
    "details",
    { class: "control-box" },
    make("summary", {}, "What is shown"),
    make("div", { class: "controls", role: "group", "aria-label": "What is shown" }, ...parts),
  );
  const phone = matchMedia("(max-width: 40rem)");
  const fold = () => {
    box.open = !phone.matches;
  };
  fold();
  phone.addEventListener("change", fold);
  return box;
}

function controlOf(view: View, control: Control, store: ViewStore): HTMLElement {
  const { options, exclusive } = control;
  if (!exclusive) return boxesOf(view, control, store);
  const isOrdered = options.every(({ value }) => /^\d+$/u.test(value));
  if (isOrdered && options.length > 2) return stepsOf(view, control, store);
  return options.length > FEW ? listOf(view, control, store) : boxesOf(view, control, store);
}

/** Radio buttons, or boxes to tick, of which none may be ticked too. */
function boxesOf(view: View, control: Control, store: ViewStore): HTMLElement {
  const { tag, title, options, exclusive } = control;
  const name = `${view.key}-${tag}`;
  const boxes = options.map((option) => {
    const box = make("input", {
      type: exclusive ? "radio" : "checkbox",
      name,
      value: option.value,
      change: () =>
        choose(
          store,
          tag,
          boxes.map(([input]) => input).flatMap((one) => (one.checked ? one.value : [])),
        ),
    });
    return [box, make("label", {}, box, make("bdi", {}, option.title))] as const;
  });
  follow(store, tag, (chosen) => {
    for (const [box] of boxes) box.checked = chosen.includes(box.value);
  });
  const labels = boxes.map(([, label]) => label);
  if (exclusive || options.length <= 2)
    return make("fieldset", {}, make("legend", {}, title), ...labels);
  const all = make("button", {
    type: "button",
    class: "all",
    click: () => {
      const isAll = store.get().chosen[tag]?.length === options.length;
      choose(store, tag, isAll ? [] : options.map(({ value }) => value));
    },
  });
  follow(store, tag, (chosen) => {
    all.textContent = chosen.length === options.length ? "none" : "all";
    all.setAttribute("aria-label", `${title}: ${all.textContent}`);
  });
  return make("fieldset", {}, make("legend", {}, title), ...labels, all);
}

function stepsOf(view: View, control: Control, store: ViewStore): HTMLElement {
  const { tag, title, options } = control;
  return sliderOf(store, {
    id: `${view.key}-${tag}`,
    label: title,
    max: options.length - 1,
    shown: ({ chosen }) => {
      const at = options.findIndex(({ value }) => value === chosen[tag]?.[0]);
      return [at, options[at]?.title ?? ""];
    },
    ask: (at) => choose(store, tag, [options[at]?.value ?? ""]),
  });
}

function listOf(view: View, control: Control, store: ViewStore): HTMLElement {
  const { tag, title, options } = control;
  const id = `${view.key}-${tag}`;
  const list = make(
    "select",
    { id, change: () => choose(store, tag, [list.value]) },
    ...options.map((option) => make("option", { value: option.value }, option.title)),
  );
  follow(store, tag, ([value]) => {
    list.value = value ?? "";
  });
  return make("div", { class: "slider" }, make("label", { for: id }, title), list);
}

function runtimeOf(view: View, store: ViewStore): HTMLElement {
  return sliderOf(store, {
    id: `${view.key}-runtime`,
    label: "Runtime shown",
    title: "The parts that take the most time, up to this share of it",
    max: 100,
    shown: ({ runtimeShown }) => {
      const percent = Math.round(runtimeShown * 100);
      return [percent, percent === 0 ? "largest" : percent === 100 ? "all" : `${percent} %`];
    },
    ask: (percent) => store.set({ runtimeShown: percent / 100 }),
  });
}

function sizeOf(store: ViewStore): HTMLElement {
  const box = make("input", {
    type: "checkbox",
    change: () => store.set({ bySize: box.checked }),
  });
  const show = ({ bySize }: ViewState) => {
    box.checked = bySize;
  };
  show(store.get());
  store.subscribe(show);
  return make("label", { class: "alone" }, box, "Size by share of time");
}

function choose(store: ViewStore, tag: string, values: readonly string[]): void {
  store.set({ chosen: { ...store.get().chosen, [tag]: values } });
}

function follow(store: ViewStore, tag: string, show: (chosen: readonly string[]) => void): void {
  show(store.get().chosen[tag] ?? []);
  store.subscribe(({ chosen }, before) => {
    if (chosen[tag] !== before.chosen[tag]) show(chosen[tag] ?? []);
  });
}
