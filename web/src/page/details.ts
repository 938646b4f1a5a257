/** What was measured, where and how: the records of the page. */

import type { PageDocument, PageRecord } from "../document";
import { make } from "../dom";
import { factsOf } from "./facts";

const KINDS: Record<PageRecord["kind"], string> = {
  measurement: "Program",
  machine: "Machine",
  cluster: "Cluster",
  timing: "Times",
  operators: "Operators",
};

/** Returns the first lines of a page: its title, where and when it was measured, by what. */
export function headOf(page: PageDocument): HTMLElement {
  return make(
    "div",
    { class: "title" },
    make("h1", {}, make("bdi", {}, page.title)),
    make("p", { class: "measured" }, measuredOf(page)),
  );
}

function measuredOf(page: PageDocument): string {
  const hosts = [...new Set(page.records.flatMap(({ host }) => host ?? []))];
  const days = [
    ...new Set(page.records.flatMap(({ created }) => created?.slice(0, 10) ?? [])),
  ].sort();
  const count = page.records.length;
  return [
    count > 1 ? `${count} records` : "",
    hosts.length > 3 ? `${hosts.length} hosts` : hosts.join(", "),
    days.length > 1 ? `${days[0]} to ${days.at(-1)}` : (days[0] ?? ""),
    `Ridgepoint ${page.version}`,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** Returns the part of the page that tells of its records. */
export function recordsOf(page: PageDocument): HTMLElement {
  const isAlone = page.records.length === 1;
  return make(
    "section",
    { class: "records", "aria-labelledby": "records" },
    make("h2", { id: "records" }, "What was measured"),
    ...page.records.map((record) => recordOf(record, isAlone)),
  );
}

function recordOf(record: PageRecord, isOpen: boolean): HTMLElement {
  const { name, label, note, created, host } = record;
  const about = [label ?? "", host ?? "", created ? dated(created) : ""];
  return make(
    "details",
    { class: "record", open: isOpen },
    make(
      "summary",
      {},
      make("span", { class: "kind" }, `${KINDS[record.kind] ?? record.kind} `),
      make("bdi", { class: "name" }, name),
      " ",
      make("bdi", { class: "about" }, about.filter(Boolean).join(" · ")),
    ),
    note ? make("p", { class: "note" }, make("bdi", {}, note)) : null,
    factsOf(record.facts),
  );
}

/** Returns a moment of ISO 8601 as people write it, to the minute. */
function dated(moment: string): string {
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*?(Z|[+-]00:?00)$/u.exec(moment);
  return parts ? `${parts[1]} ${parts[2]} UTC` : moment;
}
