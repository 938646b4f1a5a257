// Bundles the page of `ridgepoint report`: page.js and page.css, with the licences of what is inside.
// The same sources and package-lock.json give the same bytes. Usage: node build.mjs [FOLDER]
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const here = import.meta.dirname;
const folder = resolve(process.argv[2] ?? join(here, "../src/ridgepoint/data/page"));

/** Returns the names of the packages of which something is in a bundle. */
function packagesOf(inputs) {
  const found = Object.keys(inputs).map(
    (path) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1],
  );
  return [...new Set(found.filter(Boolean))].sort();
}

/** Returns the licence of every package; packages of one text share it. */
function licencesOf(packages) {
  const names = new Map();
  for (const name of packages) {
    const at = join(here, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(at, "package.json"), "utf8"));
    const file = readdirSync(at).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
    if (!file) throw new Error(`${name} ships no licence: bundle something else`);
    const text = readFileSync(join(at, file), "utf8").trim();
    if (/\*\/|<\/script/i.test(text)) throw new Error(`${name}'s licence would end the comment`);
    names.set(text, [...(names.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const parts = [...names].map(([text, of]) => `${of.join(", ")}:\n\n${text}`);
  return `This script is part of Ridgepoint (Apache-2.0) and contains parts of\n\n${parts.join("\n\n")}\n`;
}

const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  charset: "utf8",
  write: false,
  legalComments: "none",
  target: ["chrome110", "firefox115", "safari16"],
};
const script = await build({
  ...common,
  entryPoints: ["src/main.ts"],
  format: "iife",
  metafile: true,
});
const style = await build({ ...common, entryPoints: ["src/page.css"] });

mkdirSync(folder, { recursive: true });
const licences = licencesOf(packagesOf(script.metafile.inputs));
writeFileSync(join(folder, "licences.txt"), licences);
writeFileSync(join(folder, "page.js"), `/*!\n${licences}*/\n${script.outputFiles[0].text}`);
writeFileSync(join(folder, "page.css"), style.outputFiles[0].text);
