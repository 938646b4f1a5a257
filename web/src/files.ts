/** Files that a page hands to its reader. */

import { make } from "./dom";

const KEPT_MS = 60_000;

/** Lets the browser save a file. */
export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
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
