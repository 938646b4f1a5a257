/**
 * Labels of a chart: each is put where there is room. Nothing is drawn here: lines, marks and areas
 * take their room on the plane, and labels find theirs in what is left.
 */

import type { Area, Bar, Ink, Label, Line, Mark } from "../document";
import {
  along,
  around,
  type Box,
  box,
  clippedTo,
  corners,
  crosses,
  farFrom,
  gridIn,
  holds,
  lead,
  MOST_CROSSED,
  meets,
  overlaps,
  Room,
  type Segment,
} from "./boxes";
import type { Filtered, Shown } from "./filter";
import type { Measure } from "./items";
import { lineInk, type Sizes, STROKES } from "./look";
import { seenAt } from "./marks";
import { at, type Pair, type Plane } from "./scales";

/** A label that has found its place. */
export interface Placed {
  text: string;
  box: Box;
  ink: Ink;
  size: number;
  isBold: boolean;
  /** A line that joins it to its point, as it is not beside it. */
  lead: Segment | null;
  /** Colour of the area that it lies in; null: it lies in none, or in several. */
  area: Ink | null;
  /** On which it lies. */
  bar: Bar | null;
  /** Whether it lies within the mark that it names. */
  isInside: boolean;
  /** Whether what it names is drawn weakly. */
  isFaint: boolean;
}

const STRAIGHT = Math.PI / 36;
const LEAD_COST = 3;
/** Lines that are named beside their last place where no part of them is long enough. */
const NAMED_AT_END: readonly string[] = ["curve", "second", "fit", "total", "limit"];
const UNDER: readonly string[] = ["lower", "beside"];
const ON = [0];
/** Where a label along a line stands: its middle above the line, in its heights. */
const BESIDE_THEN_ON = [0.6, -0.6, 1.1, -1.1, 0];
/** Of a label along a line: a shorter line is not named along it. */
const LEAST_LENGTH = 0.7;
/** Costs of lines that a label may lie on while there is another place farther away. */
const CLEAR = 2;
/** Among more marks than these, none is kept free of labels: there would be no room at all. */
const MOST_HELD = 400;
/** Labels tried at most, those of the lowest rank. */
const MOST_LABELS = 150;

/** What is shown, with what a reader's choice makes of its labels. */
export type Nameable = Shown & Pick<Filtered, "isFaint" | "labels">;

/** Finds places for the labels of what is shown. */
export class Naming {
  readonly placed: Placed[] = [];
  /** Labels for whose whole text there was no room. */
  readonly leftOut: string[] = [];
  private readonly room: Room;

  constructor(
    private readonly plane: Plane,
    private readonly shown: Nameable,
    private readonly sizes: Sizes,
    private readonly measure: Measure,
  ) {
    this.room = new Room(plane.width, plane.height);
    for (const line of shown.lines) this.holdLine(line);
    if (shown.marks.length <= MOST_HELD) for (const mark of shown.marks) this.holdMark(mark);
  }

  placeAll(): this {
    const jobs: { label: Label; name: (text: string) => boolean }[] = [];
    const add = (label: Label | null, name: (label: Label, text: string) => boolean): void => {
      if (label?.text) jobs.push({ label, name: (text) => name(label, text) });
    };
    for (const line of this.shown.lines) add(line.label, (...of) => this.nameLine(line, ...of));
    for (const mark of this.shown.marks)
      add(this.shown.labels.get(mark) ?? mark.label, (...of) => this.nameMark(mark, ...of));
    for (const area of this.shown.areas) add(area.label, (...of) => this.nameArea(area, ...of));
    for (const bar of this.shown.bars) add(bar.label, (...of) => this.nameBar(bar, ...of));
    jobs.sort((one, other) => one.label.rank - other.label.rank);
    for (const { label, name } of jobs.slice(0, MOST_LABELS)) {
      if (name(label.text)) continue;
      if (label.short) name(label.short);
      if (!label.is_optional) this.leftOut.push(label.text);
    }
    return this;
  }

  private at(place: Pair): Pair {
    return at(this.plane, place);
  }

  private isInside([x, y]: Pair): boolean {
    return x >= -1 && x <= this.plane.width + 1 && y >= -1 && y <= this.plane.height + 1;
  }

  private holdLine(line: Line): void {
    if (line.kind === "points") {
      const size = this.sizes.marker * 0.75;
      this.room.taken.push(...line.places.map((place) => box(this.at(place), size, size)));
      return;
    }
    const { cost } = STROKES[line.kind];
    for (const segment of this.straight(line)) this.room.lines.push({ segment, cost });
  }

  /** Takes the rectangle that a mark and its upright interval fill. */
  private holdMark(mark: Mark): void {
    const seen = seenAt(this.plane, mark);
    if (!seen) return;
    const [x, y] = seen.place;
    const size = mark.shape === "none" ? 0 : this.sizes.marker * mark.size * 1.2;
    const height = mark.shape === "cap" ? 3 : size;
    let [low, high] = [y - height / 2, y + height / 2];
    for (const end of mark.y_interval ?? []) {
      const [, up] = this.at([mark.at[0], end]);
      low = Math.min(low, up);
      high = Math.max(high, up);
    }
    const width = mark.shape === "cap" ? size * 1.35 : size;
    this.room.taken.push(box([x, (low + high) / 2], width, high - low));
    if (mark.x_interval) {
      const [from, to] = mark.x_interval;
      const segment: Segment = [this.at([from, mark.at[1]]), this.at([to, mark.at[1]])];
      this.room.lines.push({ segment, cost: 1 });
    }
  }

  private take(
    label: Label,
    text: string,
    found: Box | null,
    ink: Ink,
    more: Partial<Placed> = {},
  ): boolean {
    if (!found) return false;
    const usual = {
      size: this.sizes.small,
      lead: null,
      bar: null,
      isInside: false,
      isFaint: false,
    };
    const area = this.areaOf(found);
    this.placed.push({ text, box: found, ink, isBold: label.is_bold, area, ...usual, ...more });
    return true;
  }

  /** Returns the ink of the area that a label lies in. */
  private areaOf(label: Box): Ink | null {
    const ends = corners(label);
    const holding = this.shown.areas.filter((area) => {
      const polygon = area.corners.map((corner) => this.at(corner));
      return ends.every((end) => holds(polygon, end));
    });
    return holding.at(-1)?.ink ?? null;
  }

  private sizeOf(label: Label, text: string): Pair {
    return [this.measure(text, this.sizes.small, label.is_bold) + 2, this.sizes.small * 1.1];
  }

  /** Writes a line's label along its longest straight part, or beside one of its places. */
  private nameLine(line: Line, label: Label, text: string): boolean {
    const own = lineInk(line.kind, line.ink);
    const ink = own === "faint" || own === "undecided" ? "note" : own;
    const straight = [...this.straight(line)];
    const isFaint = this.shown.isFaint(line);
    if (label.where !== "beside") {
      const found = this.along(line, label, text, straight);
      if (found) return this.take(label, text, found, ink, { isFaint });
      // A line that is not within the frame needs no label.
      if (straight.length === 0 || !NAMED_AT_END.includes(line.kind)) return straight.length === 0;
    }
    const [width, height] = this.sizeOf(label, text);
    const places = line.places
      .map((place) => this.at(place))
      .filter((place) => this.isInside(place));
    const { marker } = this.sizes;
    const candidates = places
      .reverse()
      .flatMap((place) => around(place, width, height, marker))
      .map((centre) => box(centre, width, height));
    return (
      this.take(label, text, this.room.place(candidates), ink, { isFaint }) || places.length === 0
    );
  }

  private along(line: Line, label: Label, text: string, straight: Segment[]): Box | null {
    const size = this.sizes.small;
    const height = size * 1.2;
    const tight = this.measure(text, size, label.is_bold);
    const offsets = line.kind === "iso" ? ON : BESIDE_THEN_ON;
    const sorted = straight
      .map((part) => ({
        part,
        length: Math.hypot(part[1][0] - part[0][0], part[1][1] - part[0][1]),
      }))
      .sort((one, other) => other.length - one.length);
    for (const { part, length } of sorted) {
      if (length <= tight * LEAST_LENGTH) return null;
      const upwards: Segment = part[0][0] <= part[1][0] ? part : [part[1], part[0]];
      const isRising = upwards[0][0] < upwards[1][0] && upwards[1][1] - upwards[0][1] > 1;
      // What runs close below a roof is named below, where it cannot be taken for that roof.
      const sign = isRising && UNDER.includes(line.kind) ? -1 : 1;
      const places = along(upwards, {
        // Some room at the ends of the line, if it is long enough.
        width: Math.max(Math.min(tight + size, length - 1), tight),
        height,
        offsets: offsets.map((offset) => sign * height * offset),
        fromRight: !isRising && line.kind !== "iso",
      });
      const found = this.room.place(places, { own: this.ownOf(part) });
      if (found) return found;
    }
    return null;
  }

  /** Returns the segment that was held for a part, which is made anew each time. */
  private ownOf([[x0, y0], [x1, y1]]: Segment): Segment | null {
    const held = this.room.lines.find(
      ({ segment: [[a0, b0], [a1, b1]] }) => a0 === x0 && b0 === y0 && a1 === x1 && b1 === y1,
    );
    return held?.segment ?? null;
  }

  /** Writes a mark's label beside it, or farther away at the end of a line. */
  private nameMark(mark: Mark, label: Label, text: string): boolean {
    const point = seenAt(this.plane, mark)?.place;
    if (!point) return true;
    const isFaint = this.shown.isFaint(mark);
    const { small } = this.sizes;
    const [width, height] = this.sizeOf(label, text);
    if (label.where === "upright") {
      const boxes = [
        box([point[0], point[1] + small * 0.35 + width / 2], width, height, Math.PI / 2),
      ];
      return this.take(label, text, this.room.place(boxes), mark.ink, { size: small * 0.92 });
    }
    const marker = this.sizes.marker * Math.max(mark.size, 0.8);
    if (label.where === "inside" && mark.edge === null && marker >= height) {
      const middle = box(point, width, height);
      if (!this.placed.some((other) => overlaps(middle, other.box))) {
        return this.take(label, text, middle, mark.ink, { isInside: true, isFaint });
      }
    }
    if (label.where === "right") {
      const end = mark.x_interval ? this.at([mark.x_interval[1], mark.at[1]])[0] : point[0];
      const gap = mark.shape === "none" ? 3 : marker * 0.75 + 2;
      const boxes = [box([end + gap + width / 2, point[1]], width, height)];
      return this.take(label, text, this.room.place(boxes), mark.ink, { isFaint });
    }
    const near = around(point, width, height, marker).map((centre) => box(centre, width, height));
    const found = this.room.place(near, { most: CLEAR });
    if (!found && !label.is_optional) {
      const far = this.far(mark, point, [width, height]);
      if (far) {
        const joined = lead(point, far);
        this.room.lines.push({ segment: joined, cost: LEAD_COST });
        return this.take(label, text, far, mark.ink, { lead: joined, isFaint });
      }
    }
    return this.take(label, text, found ?? this.room.place(near), mark.ink, { isFaint });
  }

  /** Returns a place away from a mark, which no other label parts from it. */
  private far(mark: Mark, point: Pair, [width, height]: Pair): Box | null {
    const names = this.placed.map((label) => label.box);
    const roofs = this.room.lines.filter(({ cost }) => cost > MOST_CROSSED);
    const free = farFrom(point, width, height, this.sizes.marker * mark.size)
      .map((centre) => box(centre, width, height))
      .filter((one) => !names.some((name) => meets(name, lead(point, one))));
    // A line to a label that crosses a roof seems to belong to the other side of it.
    const near = free.filter(
      (one) => !roofs.some(({ segment }) => crosses(lead(point, one), segment)),
    );
    return this.room.place(near, { most: CLEAR }) ?? this.room.place(free, { most: CLEAR });
  }

  /** Writes an area's label where in it there is most room. */
  private nameArea(area: Area, label: Label, text: string): boolean {
    const size = this.sizes.font;
    const rows = text.split("\n");
    const polygon = area.corners.map((corner) => this.at(corner));
    const width = Math.max(...rows.map((row) => this.measure(row, size, label.is_bold))) + 4;
    const height = size * 1.25 * rows.length;
    const boxes = gridIn(polygon.map(([x, y]) => this.clamped([x, y])))
      .map((centre) => box(centre, width, height))
      .filter((one) => corners(one).every((corner) => holds(polygon, corner)));
    return this.take(label, text, this.room.place(boxes), area.ink ?? "undecided", { size });
  }

  private clamped([x, y]: Pair): Pair {
    const { width, height } = this.plane;
    return [Math.min(Math.max(x, 0), width), Math.min(Math.max(y, 0), height)];
  }

  /** Writes a bar's label in its middle if it fits; it is never said to be left out. */
  private nameBar(bar: Bar, label: Label, text: string): boolean {
    const [left, y] = this.clamped(this.at([bar.begin, bar.row]));
    const [right] = this.clamped(this.at([bar.end, bar.row]));
    const [width, height] = this.sizeOf(label, text);
    if (width > right - left) return true;
    const found = this.room.place([box([(left + right) / 2, y], width, height)]);
    this.take(label, text, found, "ink", { bar, isFaint: this.shown.isFaint(bar) });
    return true;
  }

  /** Yields the straight parts of a line within the frame. */
  private *straight(line: Line): Generator<Segment> {
    const places = line.places.map((place) => this.at(place));
    let start = 0;
    for (let index = 1; index < places.length; index++) {
      const [first, middle, last] = [places[start], places[index], places[index + 1]];
      if (!first || !middle || (last && isStraight(first, middle, last))) continue;
      const part = clippedTo([first, middle], this.plane.width, this.plane.height);
      if (part) yield part;
      start = index;
    }
  }
}

function isStraight(first: Pair, middle: Pair, last: Pair): boolean {
  const one = Math.atan2(middle[1] - first[1], middle[0] - first[0]);
  return Math.abs(one - Math.atan2(last[1] - middle[1], last[0] - middle[0])) < STRAIGHT;
}
