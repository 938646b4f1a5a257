import { expect, test } from "vitest";
import { fileName } from "../src/files";
import { addressOf, stateOf, viewOf as viewKeyOf } from "../src/page/address";
import { initialState } from "../src/state";
import { subject, viewOf } from "./documents";

const HOSTILE = 'a&b=c#<script>"\n\u202e%';
const VIEW = viewOf(subject(HOSTILE, 0.5), subject("b", 0.5));

test("an address keeps what is chosen, whatever names are like", () => {
  const state = {
    ...initialState(VIEW),
    chosen: { level: [] },
    selected: [HOSTILE, "b"],
    joined: ["b"],
    runtimeShown: 0.25,
    bySize: false,
    leastChange: 0.05,
    search: "share > 5% & x",
  };
  const address = addressOf(VIEW, state);
  expect(viewKeyOf(address)).toBe("v");
  expect(stateOf(address, VIEW)).toEqual(state);
});

test("what is as at first is left out", () => {
  expect(addressOf(VIEW, initialState(VIEW))).toBe("#view=v");
  expect(stateOf("", VIEW)).toEqual(initialState(VIEW));
});

test("what a view does not have is not taken from an address", () => {
  const state = stateOf("#view=v&tag.level=L9&tag.cores=3&selected=x&runtime=9&runtime=2", VIEW);
  expect(state).toEqual(initialState(VIEW));
});

test.each([
  ["heat 1000 30", "heat-1000-30.csv"],
  ["../../etc/passwd", "etc-passwd.csv"],
  ["\u202e<b>", "b.csv"],
  ["日本", "ridgepoint.csv"],
])("fileName of %s", (title, expected) => {
  expect(fileName(title, "csv")).toBe(expected);
});
