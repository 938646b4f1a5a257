/** The words and value filters by which a table is searched: `gemm`, `time > 5%`, `name ~ "a b"`. */

import type { Column, Row, Table } from "../document";

type Operator = ">" | ">=" | "<" | "<=" | "=" | "!=" | "~" | "!~";
type Test = (row: Row) => boolean;

/** What a search lets through, or why it is none. */
export type Search = { test: Test; problem: null } | { test: null; problem: string };

interface Piece {
  text: string;
  isQuoted: boolean;
  /** Whether it follows the piece before without a space. */
  isGlued: boolean;
}

class Problem extends Error {}

const OPERATOR = /^(?:>=|<=|!=|!~|[<>=~≥≤≠])/u;
const SAME: Record<string, Operator> = { "≥": ">=", "≤": "<=", "≠": "!=" };
const PREFIXES: Record<string, number> = {
  "": 1,
  n: 1e-9,
  u: 1e-6,
  µ: 1e-6,
  μ: 1e-6,
  m: 1e-3,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Reads a search over the rows of a table. Terms are joined by `and`, unless `or` stands between. */
export function searchOf(table: Table, text: string): Search {
  try {
    const choices = alternatives(text).map((part) => termsOf(table, part));
    const filled = choices.filter((terms) => terms.length > 0);
    if (filled.length === 0) return { test: () => true, problem: null };
    return {
      test: (row) => filled.some((terms) => terms.every((test) => test(row))),
      problem: null,
    };
  } catch (error) {
    if (error instanceof Problem) return { test: null, problem: error.message };
    throw error;
  }
}

/** Returns a number in the unit of a column; null: it is none. */
export function quantityOf(text: string, column: Column): number | null {
  const parts = /^([+-]?(?:\d[\d_,]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(.*)$/iu.exec(text.trim());
  if (!parts) return null;
  const number = Number((parts[1] ?? "").replace(/[_,]/gu, ""));
  const suffix = parts[2] ?? "";
  if (suffix === "%") return number / 100;
  const prefix =
    column.unit && suffix.endsWith(column.unit)
      ? suffix.slice(0, suffix.length - column.unit.length)
      : suffix;
  const factor = PREFIXES[prefix];
  return factor === undefined || Number.isNaN(number) ? null : number * factor;
}

function alternatives(text: string): Piece[][] {
  const parts: Piece[][] = [[]];
  for (const piece of piecesOf(text)) {
    if (!piece.isQuoted && piece.text.toLowerCase() === "or") parts.push([]);
    else if (piece.isQuoted || piece.text.toLowerCase() !== "and") parts.at(-1)?.push(piece);
  }
  return parts;
}

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at);
    const space = /^\s+/u.exec(rest);
    if (space) {
      at += space[0].length;
      continue;
    }
    const isGlued = at > 0 && !/\s/u.test(text[at - 1] ?? "");
    const quoted = /^"([^"]*)(?:"|$)/u.exec(rest);
    const found = quoted ?? OPERATOR.exec(rest) ?? /^(?:!|[^\s"<>=~≥≤≠!])+/u.exec(rest);
    const whole = found?.[0] ?? rest;
    pieces.push({ text: quoted?.[1] ?? whole, isQuoted: quoted !== null, isGlued });
    at += whole.length;
  }
  return pieces;
}

function isOperator(piece: Piece | undefined): boolean {
  return piece !== undefined && !piece.isQuoted && OPERATOR.test(piece.text);
}

function termsOf(table: Table, pieces: readonly Piece[]): Test[] {
  const tests: Test[] = [];
  let words: Piece[] = [];
  for (let at = 0; at < pieces.length; at += 1) {
    const piece = pieces[at] as Piece;
    if (!isOperator(piece)) {
      words.push(piece);
      continue;
    }
    const taken = columnBefore(table, words);
    let end = at + 2;
    while (pieces[end]?.isGlued && !pieces[end]?.isQuoted) end += 1;
    const value = pieces.slice(at + 1, end);
    if (taken === null) {
      if (!isPlainText(piece, words, value)) throw new Problem(unknownColumn(table, words));
      const glued = [words.pop() as Piece, piece, ...value].map(({ text }) => text).join("");
      words.push({ text: glued, isQuoted: true, isGlued: false });
      at = end - 1;
      continue;
    }
    if (value.length === 0) throw new Problem(`A value is missing after “${piece.text}”.`);
    const unit = pieces[end];
    let text = value.map((part) => part.text).join("");
    const column = table.columns[taken.column] as Column;
    if (unit && !unit.isQuoted && isUnit(text, unit.text, column)) {
      text += unit.text;
      end += 1;
    }
    tests.push(...words.slice(0, words.length - taken.count).map(wordTest));
    tests.push(
      columnTest(column, taken.column, SAME[piece.text] ?? (piece.text as Operator), text),
    );
    words = [];
    at = end - 1;
  }
  return [...tests, ...words.map(wordTest)];
}

/** Whether an operator is part of a name that is searched, such as `vector<double>`. */
function isPlainText(operator: Piece, words: readonly Piece[], value: readonly Piece[]): boolean {
  return (
    operator.isGlued &&
    words.length > 0 &&
    (value.length === 0 || value[0]?.isGlued === true) &&
    !/^[\d.]/u.test(value[0]?.text ?? "")
  );
}

function isUnit(number: string, unit: string, column: Column): boolean {
  return /^[+-]?[\d.,_e+-]+$/iu.test(number) && quantityOf(`${number} ${unit}`, column) !== null;
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** Returns the column that the last words name, most words first, and how many these are. */
function columnBefore(
  table: Table,
  words: readonly Piece[],
): { column: number; count: number } | null {
  for (let count = words.length; count > 0; count -= 1) {
    const name = plain(
      words
        .slice(words.length - count)
        .map(({ text }) => text)
        .join(""),
    );
    if (name === "") continue;
    const names = table.columns.map(({ key, title }) => [plain(key), plain(title)]);
    const exact = names.findIndex((both) => both.includes(name));
    if (exact >= 0) return { column: exact, count };
    const begun = names.flatMap((both, at) => (both.some((one) => one.startsWith(name)) ? at : []));
    if (begun.length === 1) return { column: begun[0] as number, count };
    if (begun.length > 1 && count === 1)
      throw new Problem(
        `“${words.at(-1)?.text}” may be ${begun.map((at) => `“${table.columns[at]?.title}”`).join(" or ")}.`,
      );
  }
  return null;
}

function unknownColumn(table: Table, words: readonly Piece[]): string {
  const names = table.columns.map(({ title }) => `“${title}”`).join(", ");
  return words.length === 0
    ? `Name a column before the comparison: ${names}.`
    : `There is no column “${words.at(-1)?.text}”; there are ${names}.`;
}

const lower = new WeakMap<Row, string>();

function wordTest({ text, isQuoted }: Piece): Test {
  const isNot = !isQuoted && text.length > 1 && text.startsWith("-");
  const word = (isNot ? text.slice(1) : text).toLowerCase();
  return (row) => {
    let all = lower.get(row);
    if (all === undefined) {
      all = row.cells.map((cell) => cell.text.toLowerCase()).join("\n");
      lower.set(row, all);
    }
    return all.includes(word) !== isNot;
  };
}

function columnTest(column: Column, at: number, operator: Operator, text: string): Test {
  const isNot = operator.startsWith("!");
  if (operator.endsWith("~")) {
    const part = text.toLowerCase();
    return (row) => (row.cells[at]?.text.toLowerCase().includes(part) ?? false) !== isNot;
  }
  if (text.toLowerCase() === "unknown" && operator.endsWith("="))
    return (row) => ((row.cells[at]?.value ?? null) === null) !== isNot;
  if (column.kind === "text") {
    if (!operator.startsWith("=") && !isNot)
      throw new Problem(`“${column.title}” is a text: compare it with = or with ~ (contains).`);
    return (row) => (row.cells[at]?.text.toLowerCase() === text.toLowerCase()) !== isNot;
  }
  const value = quantityOf(text, column);
  if (value === null) {
    const isRelative = column.kind === "share" || column.kind === "change";
    const unit = isRelative ? "%" : column.unit;
    throw new Problem(`“${text}” is no value of “${column.title}”${unit ? ` (${unit})` : ""}.`);
  }
  return (row) => {
    const found = row.cells[at]?.value;
    return typeof found === "number" && compare(found, operator, value);
  };
}

function compare(one: number, operator: Operator, other: number): boolean {
  const isSame = Math.abs(one - other) <= 1e-9 * Math.abs(other);
  if (operator === "=") return isSame;
  if (operator === "!=") return !isSame;
  if (operator === ">=") return one > other || isSame;
  if (operator === "<=") return one < other || isSame;
  return operator === ">" ? one > other && !isSame : one < other && !isSame;
}
