/** The data of a page, as they are saved. */

import type { PageDocument } from "../document";

/** Returns the reports of all records as JSON: that of the only one, or all by their keys. */
export function dataOf(page: PageDocument): string {
  const reports = page.records.map(({ key, name, label, note, created, report }) => ({
    key,
    name,
    label,
    note,
    created,
    report,
  }));
  const whole =
    reports.length === 1 ? reports[0]?.report : { version: page.version, records: reports };
  return `${JSON.stringify(whole, null, 2)}\n`;
}
