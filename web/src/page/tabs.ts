/** The views of a page, one of which is shown. */

import type { View } from "../document";
import { make } from "../dom";
import type { PageState, Store } from "../state";

/** Returns the tabs of views; null: there is one view at most. */
export function tabsOf(views: readonly View[], store: Store<PageState>): HTMLElement | null {
  if (views.length < 2) return null;
  const tabs = views.map(({ key, title }) =>
    make(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${key}`,
        "aria-controls": `view-${key}`,
        click: () => store.set({ view: key }),
      },
      title,
    ),
  );
  const show = ({ view }: PageState) => {
    for (const [at, tab] of tabs.entries()) {
      const isShown = views[at]?.key === view;
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      if (isShown) tab.scrollIntoView?.({ block: "nearest", inline: "nearest" });
    }
  };
  show(store.get());
  store.subscribe((now, before) => {
    if (now.view !== before.view) show(now);
  });
  return make(
    "nav",
    { "aria-label": "Views" },
    make(
      "div",
      {
        role: "tablist",
        "aria-label": "Views",
        keydown: (event: KeyboardEvent) => move(event, tabs),
      },
      ...tabs,
    ),
  );
}

function move(event: KeyboardEvent, tabs: readonly HTMLButtonElement[]): void {
  const at = tabs.indexOf(event.target as HTMLButtonElement);
  const count = tabs.length;
  const to: Record<string, number> = {
    ArrowRight: (at + 1) % count,
    ArrowLeft: (at - 1 + count) % count,
    Home: 0,
    End: count - 1,
  };
  const next = to[event.key];
  if (next === undefined || at < 0) return;
  event.preventDefault();
  tabs[next]?.focus();
  tabs[next]?.click();
}
