import { describe, expect, test } from "vitest";
import { csvOf } from "../src/table/csv";
import { quantityOf, searchOf } from "../src/table/search";
import { nextOrder, sorted } from "../src/table/sorting";
import { column, row, TABLE } from "./documents";

function found(search: string): string[] | string {
  const { test: isFound, problem } = searchOf(TABLE, search);
  return isFound === null ? problem : TABLE.rows.filter(isFound).map(({ subject }) => subject);
}

describe("searchOf", () => {
  test.each([
    ["", ["gemm", "vector<double>", "gemv 10", "gemv 9"]],
    ["gem", ["gemm", "gemv 10", "gemv 9"]],
    ["GEM 10", ["gemv 10"]],
    ['"gemv 9"', ["gemv 9"]],
    ["gem -gemv", ["gemm"]],
    ["share > 5%", ["gemm", "gemv 10"]],
    ["share of time >= 5%", ["gemm", "vector<double>", "gemv 10"]],
    ["share≥0.05", ["gemm", "vector<double>", "gemv 10"]],
    ["gem share of time > 50 %", ["gemm"]],
    ["T > 5 ms", ["gemm", "gemv 10"]],
    ["T<=1000us", ["vector<double>"]],
    ["T > 5ms and T < 10ms", ["gemv 10"]],
    ["T > 10ms or T < 2ms", ["gemm", "vector<double>"]],
    ["q dram > 1 MB", ["gemm", "vector<double>"]],
    ["Q > 1GB", ["gemm"]],
    ['"Q DRAM" = 0', ["gemv 9"]],
    ["T = unknown", ["gemv 9"]],
    ["T != unknown", ["gemm", "vector<double>", "gemv 10"]],
    ["name ~ gemv", ["gemv 10", "gemv 9"]],
    ["name !~ gem", ["vector<double>"]],
    ["name = GEMM", ["gemm"]],
    ["name ~ vector<double>", ["vector<double>"]],
    ["vector<double>", ["vector<double>"]],
    ["nothing", []],
  ])("%s", (search, expected) => {
    expect(found(search)).toEqual(expected);
  });

  test.each([
    ["tme > 5%", "There is no column “tme”"],
    ["tme>5%", "There is no column “tme”"],
    ["> 5%", "Name a column before the comparison"],
    ["T >", "A value is missing after “>”."],
    ["T > 5 parsecs and gemm", null],
    ["T > much", "“much” is no value of “T” (s)."],
    ["share > much", "“much” is no value of “share of time” (%)."],
    ["name > 3", "“name” is a text"],
  ])("%s is refused or words", (search, problem) => {
    if (problem === null) expect(found(search)).toEqual([]);
    else expect(found(search)).toContain(problem);
  });

  test("what begins the titles of several columns names none of them", () => {
    const table = {
      name: "t",
      columns: [column("read", "number"), column("rest", "number")],
      rows: [],
    };
    expect(searchOf(table, "re > 1").problem).toBe("“re” may be “read” or “rest”.");
  });
});

test.each([
  ["5", "s", 5],
  ["5 ms", "s", 5e-3],
  ["5m", "s", 5e-3],
  ["5 µs", "s", 5e-6],
  ["1.5 GB", "B", 1.5e9],
  ["1 KiB", "B", 1024],
  ["1 MiB", "B", 2 ** 20],
  ["-2e3", "", -2e3],
  ["3 Gflop/s", "flop/s", 3e9],
  ["3 Gflop", "flop/s", null],
  ["1,000", "", 1000],
  ["five", "s", null],
])("quantityOf %s in %s", (text, unit, expected) => {
  const value = quantityOf(text, column("x", "number", unit));
  if (expected === null || value === null) expect(value).toBe(expected);
  else expect(value).toBeCloseTo(expected, 12);
});

describe("sorting", () => {
  const names = (at: number, isDescending: boolean) =>
    sorted(TABLE, { column: at, isDescending }).map(({ subject }) => subject);

  test("numbers both ways, unknown last", () => {
    expect(names(2, true)).toEqual(["gemm", "gemv 10", "vector<double>", "gemv 9"]);
    expect(names(2, false)).toEqual(["vector<double>", "gemv 10", "gemm", "gemv 9"]);
  });

  test("texts by the numbers in them", () => {
    expect(names(0, false)).toEqual(["gemm", "gemv 9", "gemv 10", "vector<double>"]);
  });

  test("a third click restores the first order", () => {
    const first = nextOrder(TABLE, null, 2);
    expect(first).toEqual({ column: 2, isDescending: true });
    const second = nextOrder(TABLE, first, 2);
    expect(second).toEqual({ column: 2, isDescending: false });
    expect(nextOrder(TABLE, second, 2)).toBeNull();
    expect(nextOrder(TABLE, second, 0)).toEqual({ column: 0, isDescending: false });
  });
});

test("csvOf quotes, leaves unknowns empty and writes no formulas", () => {
  const rows = [row('a "b", c\nd', 0.5, null), row("=1+1", 1, 2)];
  expect(
    csvOf([column("name", "text"), column("share", "share"), column("T", "number", "s")], rows),
  ).toBe('name,share,T [s]\r\n"a ""b"", c\nd",0.5,\r\n\'=1+1,1,2\r\n');
});
