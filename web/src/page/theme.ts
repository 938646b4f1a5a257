/** Light or dark: as the system says, or as the reader does. */

import { make } from "../dom";
import type { PageState, Store, Theme } from "../state";

const KEY = "ridgepoint-theme";
const THEMES: readonly Theme[] = ["system", "light", "dark"];
const NAMES: Record<Theme, string> = { system: "as the system", light: "light", dark: "dark" };

/** Returns the theme that a reader chose before; browsers may keep nothing for files. */
export function keptTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEY) as Theme | null;
    return kept !== null && THEMES.includes(kept) ? kept : "system";
  } catch {
    return "system";
  }
}

/** Makes the page look as a theme says. */
export function wear(theme: Theme): void {
  if (theme === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", theme);
}

/** Returns the list of themes, which follows the page's store. */
export function themeSwitch(store: Store<PageState>): HTMLElement {
  const list = make(
    "select",
    {
      id: "theme",
      change: () => {
        store.set({ theme: list.value as Theme });
        try {
          localStorage.setItem(KEY, list.value);
        } catch {
          // Nothing is kept, as private windows have it.
        }
      },
    },
    ...THEMES.map((theme) => make("option", { value: theme }, NAMES[theme])),
  );
  const show = ({ theme }: PageState) => {
    list.value = theme;
    wear(theme);
  };
  show(store.get());
  store.subscribe(show);
  return make("div", { class: "theme" }, make("label", { for: "theme" }, "Colours"), list);
}
