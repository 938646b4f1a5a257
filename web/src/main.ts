/** Opens the page: reads its document and shows its views. */

import { complete, type PageDocument } from "./document";
import { Page } from "./page/page";

function open(): void {
  const source = document.getElementById("ridgepoint-document");
  const host = document.getElementById("ridgepoint");
  if (!source || !host) throw new Error("this page holds no document");
  try {
    new Page(host, complete(JSON.parse(source.textContent ?? "") as PageDocument));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    host.textContent = `This page cannot be shown (${reason}). Write it again, by a newer Ridgepoint.`;
    throw error;
  }
}

open();
