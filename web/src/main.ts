/** Opens the page: reads its document and shows its views. */

import { drawChart } from "./chart";
import { complete, type PageDocument } from "./document";
import { make } from "./dom";
import { initialState, Store } from "./state";

function open(): void {
  const source = document.getElementById("ridgepoint-document");
  const host = document.getElementById("ridgepoint");
  if (!source || !host) throw new Error("this page holds no document");
  const page = complete(JSON.parse(source.textContent ?? "") as PageDocument);
  host.replaceChildren(make("h1", {}, page.title));
  for (const view of page.views) {
    const store = new Store(initialState(view));
    for (const chart of view.charts) {
      const place = make("div", { class: "chart" });
      host.append(place);
      drawChart(place, chart, view, store);
    }
  }
}

open();
