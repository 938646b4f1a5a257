/** Files that a page hands to its reader. */

import type { PageDocument } from "../document";

/** Hands a file to the reader. */
export function save(name: string, type: string, content: string): void {
  const address = URL.createObjectURL(new Blob([content], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

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

/** Returns a file's name: of letters, digits and hyphens, so that every system takes it. */
export function fileName(title: string, ending: string): string {
  const name = title
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9]+/gu, "-")
    .replace(/^-+|-+$/gu, "")
    .toLowerCase()
    .slice(0, 80);
  return `${name || "ridgepoint"}.${ending}`;
}
