/** A chart on the page: draws it, and keeps it in step with what its reader does. */

import type { Chart, Entry, Mark, View } from "../document";
import { make } from "../dom";
import { join, select, type ViewState, type ViewStore } from "../state";
import { paint } from "./canvas";
import { notesOf, pngOf, svgFile } from "./file";
import { filtered } from "./filter";
import { type Frame, frameOf, freshName, type Tool } from "./frame";
import { History } from "./history";
import { type Found, Hits, stops } from "./hit";
import type { Measure } from "./items";
import { keyList } from "./keys";
import { fixedColours, type Ground, pageColours, sizesFor } from "./look";
import { batched, isData } from "./marks";
import { type Way, wayBetween } from "./motion";
import { listen, type Wishes } from "./pointer";
import { pointingItems } from "./pointing";
import { between, isSameWindow, type Pair, panned, wholeWindow, widenedTo, zoomed } from "./scales";
import { MOST_SHAPES, type Scene, sceneOf } from "./scene";
import { Stops } from "./stops";
import { definitions, FONTS, svgOf } from "./svg";
import { spoken, tell } from "./tooltip";

const USUAL_WIDTH = 760;
const PRINT_WIDTH = 680;
const MILLISECONDS = 350;
const ZOOM_STEP = 1.5;
const PAN_STEP = 0.1;
const PNG_SCALE = 2;
/** Pixels by which a finger misses. */
const FINGER = 10;

export class ChartView {
  readonly #name = freshName();
  readonly #frame: Frame;
  readonly #history: History;
  readonly #hidden = new Set<Entry>();
  readonly #key: ReturnType<typeof keyList>;
  readonly #stops: Stops;
  readonly #cleaners: (() => void)[] = [];
  readonly #measure: Measure = measurer();
  #scene: Scene;
  #hits: Hits | null = null;
  #pointed: Found | null = null;
  #outline: readonly [Pair, Pair] | null = null;
  #isRectangle = false;
  #isPrinting = false;
  #way: { way: Way; began: number } | null = null;
  #asked = 0;
  #width = USUAL_WIDTH;

  constructor(
    private readonly host: HTMLElement,
    private readonly chart: Chart,
    private readonly view: View,
    private readonly store: ViewStore,
  ) {
    this.#history = new History(wholeWindow(chart));
    this.#key = keyList(chart, sizesFor(USUAL_WIDTH), this.#name, (entry) => this.#switch(entry));
    this.#frame = frameOf(chart, this.#name, this.#tools(), this.#key.list);
    this.#stops = new Stops(
      this.#frame.plot,
      (found) => spoken(found, view),
      (found) => this.#point(found, true),
    );
    host.replaceChildren(this.#frame.root);
    this.#width = host.clientWidth || USUAL_WIDTH;
    this.#scene = this.#draw();
    this.#listen();
  }

  toSvg(): string {
    const how = { colour: fixedColours(this.#ground()), measure: this.#measure };
    return svgFile(this.#scene, this.chart, this.#hidden, how);
  }

  toPng(): Promise<Blob> {
    return pngOf(this.toSvg(), PNG_SCALE);
  }

  remove(): void {
    for (const clean of this.#cleaners) clean();
    cancelAnimationFrame(this.#asked);
    this.#asked = 0;
    this.host.replaceChildren();
  }

  #tools(): Tool[] {
    return [
      { text: "+", title: "Zoom in (+)", act: () => this.#zoomMiddle(ZOOM_STEP) },
      { text: "−", title: "Zoom out (−)", act: () => this.#zoomMiddle(1 / ZOOM_STEP) },
      {
        text: "⬚",
        title: "Zoom to a rectangle (or Shift and drag)",
        isSwitch: true,
        act: () => {
          this.#isRectangle = !this.#isRectangle;
        },
      },
      { text: "⤢", title: "Show all (0)", act: () => this.#goto(wholeWindow(this.chart)) },
      { text: "↶", title: "Undo (u)", act: () => this.#undo() },
      {
        text: "SVG",
        title: "Save this view as SVG",
        act: () =>
          save(`${this.#fileName()}.svg`, new Blob([this.toSvg()], { type: "image/svg+xml" })),
      },
      { text: "PNG", title: "Save this view as PNG", act: () => this.#savePng() },
    ];
  }

  #savePng(): void {
    this.toPng().then(
      (image) => save(`${this.#fileName()}.png`, image),
      (error: unknown) => this.#say(`The picture was not saved: ${String(error)}`),
    );
  }

  #fileName(): string {
    const words = this.chart.title.toLowerCase().match(/[\p{Letter}\p{Number}]+/gu) ?? [];
    return words.slice(0, 8).join("-") || "chart";
  }

  #listen(): void {
    const { plot } = this.#frame;
    const stop = new AbortController();
    const { signal } = stop;
    this.#cleaners.push(
      () => stop.abort(),
      listen(plot, this.#wishes()),
      this.store.subscribe((state, before) => this.#changed(state, before)),
    );
    plot.addEventListener("keydown", (event) => this.#press(event), { signal });
    const resized = new ResizeObserver(() => this.#resize());
    resized.observe(this.host);
    const ground = new MutationObserver(() => this.#ask());
    ground.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.#cleaners.push(
      () => resized.disconnect(),
      () => ground.disconnect(),
    );
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#ask(), {
      signal,
    });
    window.addEventListener("beforeprint", () => this.#print(true), { signal });
    window.addEventListener("afterprint", () => this.#print(false), { signal });
  }

  #resize(): void {
    const width = this.host.clientWidth;
    if (width > 0 && width !== this.#width && !this.#isPrinting) {
      this.#width = width;
      this.#ask();
    }
  }

  #print(isPrinting: boolean): void {
    this.#isPrinting = isPrinting;
    this.#width = isPrinting ? PRINT_WIDTH : this.host.clientWidth || USUAL_WIDTH;
    this.#draw();
  }

  #ground(): Ground {
    const paper = getComputedStyle(this.#frame.root).getPropertyValue("--rp-paper").trim();
    return paper.toUpperCase() === fixedColours("dark")("paper") ? "dark" : "light";
  }

  #switch(entry: Entry): void {
    if (!this.#hidden.delete(entry)) this.#hidden.add(entry);
    this.#key.show(this.#hidden);
    this.#draw();
  }

  #changed(state: ViewState, before: ViewState): void {
    const differs = (Object.keys(state) as (keyof ViewState)[]).filter(
      (name) => state[name] !== before[name],
    );
    if (differs.length === 1 && differs[0] === "hovered") {
      this.#drawPointing();
      return;
    }
    if (state.chosen !== before.chosen && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
      const now = filtered(this.chart, this.view, state, this.#hidden);
      const isLog = { x: this.chart.x.scale === "log", y: this.chart.y.scale === "log" };
      const way = wayBetween(this.#scene.shown, now, isLog);
      this.#way = way ? { way, began: performance.now() } : null;
    }
    this.#draw();
  }

  /** Draws again with the next picture of the screen. */
  #ask(): void {
    if (this.#asked) return;
    this.#asked = requestAnimationFrame(() => {
      this.#asked = 0;
      this.#draw();
    });
  }

  #draw(): Scene {
    const scene = sceneOf({
      chart: this.chart,
      view: this.view,
      state: this.store.get(),
      hidden: this.#hidden,
      window: this.#history.window,
      width: this.#width,
      measure: this.#measure,
      moving: this.#moving(),
    });
    this.#scene = scene;
    this.#hits = null;
    this.#place(scene);
    const isMany = scene.marks.length > MOST_SHAPES && !this.#isPrinting;
    const { below, above } = this.#frame;
    this.#fill(below, [...scene.below, ...(isMany ? [] : scene.markItems())], "below");
    this.#paint(scene, isMany);
    this.#fill(above, scene.above, "above");
    this.#drawPointing();
    this.#drawBadges();
    this.#frame.notes.replaceChildren(
      ...notesOf(scene, this.chart).map((note) => make("p", {}, note)),
    );
    this.#stops.update(stops(scene));
    return scene;
  }

  #moving(): ReturnType<Way> | null {
    if (!this.#way) return null;
    const part = (performance.now() - this.#way.began) / MILLISECONDS;
    if (part >= 1) {
      this.#way = null;
      return null;
    }
    this.#ask();
    return this.#way.way(part * part * (3 - 2 * part));
  }

  /** Gives layers and plot their places. */
  #place({ plane, margins }: Scene): void {
    const { stage, plot, below, above, pointing } = this.#frame;
    const width = plane.width + margins.left + margins.right;
    const height = plane.height + margins.top + margins.bottom;
    stage.style.height = `${height}px`;
    for (const svg of [below, above, pointing]) {
      svg.setAttribute("width", String(width));
      svg.setAttribute("height", String(height));
      svg.setAttribute("viewBox", `${-margins.left} ${-margins.top} ${width} ${height}`);
    }
    plot.style.left = `${margins.left}px`;
    plot.style.top = `${margins.top}px`;
    plot.style.width = `${plane.width}px`;
    plot.style.height = `${plane.height}px`;
    // One finger scrolls the page until a part of the plane is seen, which it then moves.
    const isWhole = isSameWindow(this.#history.window, wholeWindow(this.chart));
    plot.style.touchAction = isWhole ? "pan-y" : "none";
  }

  #fill(svg: SVGSVGElement, items: Parameters<typeof svgOf>[0], layer: string): void {
    const { width, height } = this.#scene?.plane ?? { width: 0, height: 0 };
    const writing = { colour: pageColours, name: `${this.#name}-${layer}` };
    svg.innerHTML = definitions(items, { ...writing, width, height }) + svgOf(items, writing);
  }

  #paint({ plane, margins, markItems }: Scene, isMany: boolean): void {
    const { canvas } = this.#frame;
    canvas.hidden = !isMany;
    const context = isMany ? canvas.getContext("2d") : null;
    if (!context) return;
    const scale = devicePixelRatio || 1;
    const width = plane.width + margins.left + margins.right;
    const height = plane.height + margins.top + margins.bottom;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    context.setTransform(scale, 0, 0, scale, margins.left * scale, margins.top * scale);
    paint(context, batched(markItems()), fixedColours(this.#ground()), plane);
  }

  #drawPointing(): void {
    const { hovered } = this.store.get();
    const items = pointingItems(this.#scene, {
      pointed: this.#pointed,
      hovered,
      outline: this.#outline,
    });
    this.#fill(this.#frame.pointing, items, "pointing");
  }

  /** Names the points that are not seen, at a button that shows them. */
  #drawBadges(): void {
    const outside = this.#scene.outside.filter(isData);
    this.#frame.badges.replaceChildren(...(outside.length > 0 ? [this.#badge(outside)] : []));
  }

  #badge(outside: readonly Mark[]): HTMLElement {
    const names = [...new Set(outside.map(({ label, name }) => label?.text || name))];
    const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
    const text = `outside: ${names.slice(0, 3).join(", ")}${more}`;
    const title = `Show ${names.slice(0, 30).join(", ")}`;
    const places = outside.map(({ at }) => at);
    const click = () => this.#goto(widenedTo(this.chart, this.#history.window, places));
    return make("button", { type: "button", class: "rp-badge", title, click }, text);
  }

  #goto(window: History["window"], gesture = ""): void {
    this.#history.go(window, gesture);
    this.#point(null);
    this.#ask();
  }

  #undo(): void {
    this.#history.undo();
    this.#ask();
  }

  #zoom(factor: number, [x, y]: Pair, gesture = ""): void {
    const { plane } = this.#scene;
    const { window } = this.#history;
    const hasRows = this.chart.y.scale === "rows";
    const up = 1 - y / plane.height;
    this.#goto(
      {
        x: zoomed(this.chart.x, window.x, factor, x / plane.width),
        y: hasRows ? window.y : zoomed(this.chart.y, window.y, factor, up),
      },
      gesture,
    );
  }

  #zoomMiddle(factor: number): void {
    const { width, height } = this.#scene.plane;
    this.#zoom(factor, [width / 2, height / 2]);
  }

  /** Moves the view by shares of the plot. */
  #pan(across: number, up: number, gesture: string): void {
    const { window } = this.#history;
    const hasRows = this.chart.y.scale === "rows";
    const x = panned(this.chart.x, window.x, across);
    this.#goto({ x, y: hasRows ? window.y : panned(this.chart.y, window.y, up) }, gesture);
  }

  #wishes(): Wishes {
    return {
      zoom: (factor, at, gesture) => this.#zoom(factor, at, gesture),
      pan: ([x, y], gesture) => {
        const { width, height } = this.#scene.plane;
        this.#pan(-x / width, y / height, gesture);
      },
      outline: (from, to) => {
        this.#outline = to ? [from, to] : null;
        this.#drawPointing();
      },
      rectangle: (from, to) => this.#zoomTo(from, to),
      hover: (at, isTouch) => this.#point(at ? this.#find(at, isTouch) : null),
      click: (at, isAdded, isTouch) => this.#click(this.#find(at, isTouch), isAdded),
      join: (at) => this.#join(this.#find(at, false)),
      isRectangle: () => this.#isRectangle,
    };
  }

  #zoomTo([x0, y0]: Pair, [x1, y1]: Pair): void {
    const { width, height } = this.#scene.plane;
    const { window } = this.#history;
    const share = (value: number, size: number) => Math.min(Math.max(value / size, 0), 1);
    const [left, right] = [share(Math.min(x0, x1), width), share(Math.max(x0, x1), width)];
    const [top, bottom] = [share(Math.min(y0, y1), height), share(Math.max(y0, y1), height)];
    const hasRows = this.chart.y.scale === "rows";
    this.#goto({
      x: between(this.chart.x, left, right, window.x),
      y: hasRows ? window.y : between(this.chart.y, 1 - bottom, 1 - top, window.y),
    });
  }

  #find([x, y]: Pair, isTouch: boolean): Found | null {
    this.#hits ??= new Hits(this.#scene);
    return this.#hits.at(x, y, isTouch ? FINGER : 0);
  }

  #click(found: Found | null, isAdded: boolean): void {
    if (found) this.#stops.remember(found);
    this.#point(found);
    const subject = found?.thing.subject;
    if (subject) select(this.store, subject, isAdded);
    else if (!found && !isAdded && this.store.get().selected.length > 0)
      this.store.set({ selected: [] });
  }

  #join(found: Found | null): void {
    const subject = found?.thing.subject;
    if (!subject) return;
    join(this.store, subject);
    const isJoined = this.store.get().joined.includes(subject);
    const count =
      this.#scene.shown.joined.find((joined) => joined.subject === subject)?.marks.length ?? 0;
    const name = found.thing.name || subject;
    this.#say(
      isJoined ? `${name}: ${count || 1} points joined` : `${name}: points no longer joined`,
    );
  }

  /** Shows what is said of a thing; null: nothing is. */
  #point(found: Found | null, isFocus = false): void {
    if (found?.thing === this.#pointed?.thing && found?.x === this.#pointed?.x) return;
    this.#pointed = found;
    const hovered = found?.thing.subject || null;
    if (this.store.get().hovered === hovered) this.#drawPointing();
    else this.store.set({ hovered });
    this.#showTooltip(found);
    if (found && isFocus) this.#say(spoken(found, this.view));
  }

  #showTooltip(found: Found | null): void {
    const { tooltip, stage } = this.#frame;
    tooltip.hidden = !found;
    if (!found) return;
    tell(tooltip, found, this.view);
    const { margins, plane } = this.#scene;
    const [x, y] = [found.x + margins.left, found.y + margins.top];
    const gap = found.size / 2 + 10;
    const room = stage.clientWidth || plane.width;
    const wide = tooltip.offsetWidth;
    const isRight = x + gap + wide <= room || x < room / 2;
    const left = isRight ? Math.min(x + gap, room - wide) : Math.max(x - gap - wide, 0);
    tooltip.style.left = `${Math.max(left, 0)}px`;
    const isCovering = wide > room - 2 * gap - 40;
    const top = isCovering ? y + gap : y - tooltip.offsetHeight / 2;
    tooltip.style.top = `${Math.max(Math.min(top, stage.clientHeight - tooltip.offsetHeight), 0)}px`;
  }

  #say(text: string): void {
    this.#frame.said.textContent = text;
  }

  #press(event: KeyboardEvent): void {
    if (event.altKey) return;
    const act = event.shiftKey
      ? (this.#shifted(event.key) ?? this.#plain(event))
      : this.#plain(event);
    if (!act) return;
    event.preventDefault();
    act();
  }

  #shifted(key: string): (() => void) | undefined {
    const moves: Readonly<Record<string, Pair>> = {
      ArrowLeft: [-PAN_STEP, 0],
      ArrowRight: [PAN_STEP, 0],
      ArrowUp: [0, PAN_STEP],
      ArrowDown: [0, -PAN_STEP],
    };
    const by = moves[key];
    return by && (() => this.#pan(...by, `key ${key}`));
  }

  #plain({ key, ctrlKey, metaKey }: KeyboardEvent): (() => void) | undefined {
    const current = this.#stops.current;
    const isAdded = ctrlKey || metaKey;
    const acts: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => this.#stops.step(-1),
      ArrowUp: () => this.#stops.step(-1),
      ArrowRight: () => this.#stops.step(1),
      ArrowDown: () => this.#stops.step(1),
      Home: () => this.#stops.go(0),
      End: () => this.#stops.last(),
      Enter: () => this.#join(current),
      " ": () => this.#click(current, isAdded),
      Escape: () => this.#escape(),
    };
    const views: Readonly<Record<string, () => void>> = {
      "+": () => this.#zoomMiddle(ZOOM_STEP),
      "=": () => this.#zoomMiddle(ZOOM_STEP),
      "-": () => this.#zoomMiddle(1 / ZOOM_STEP),
      "0": () => this.#goto(wholeWindow(this.chart)),
      u: () => this.#undo(),
    };
    return isAdded && key !== " " ? undefined : (acts[key] ?? views[key]);
  }

  #escape(): void {
    this.#point(null);
    this.store.set({ selected: [], joined: [] });
  }
}

function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Returns a function that measures texts in the fonts of pictures, and remembers. */
function measurer(): Measure {
  const context = document.createElement("canvas").getContext("2d");
  const known = new Map<string, number>();
  const at = 100;
  return (text, size, isBold = false) => {
    const name = `${isBold} ${text}`;
    let width = known.get(name);
    if (width === undefined) {
      if (context) context.font = `${isBold ? "bold " : ""}${at}px ${FONTS}`;
      // About the width of letters where nothing can be measured.
      width = (context?.measureText(text).width ?? text.length * at * 0.56) / at;
      known.set(name, width);
    }
    return width * size;
  };
}
