/** A chart on the page: draws it, and keeps it in step with what its reader does. */

import type { Chart, Entry, Place, View } from "../document";
import { make } from "../dom";
import { fileName, save } from "../files";
import { join, select, type ViewState, type ViewStore } from "../state";
import { badgesOf } from "./badges";
import { notesOf, pngOf, svgFile } from "./file";
import { filtered } from "./filter";
import { type Frame, frameOf, freshName } from "./frame";
import { History } from "./history";
import { type Found, Hits, stops } from "./hit";
import { type Keys, meaning } from "./keyboard";
import { keyList } from "./keys";
import { Layers } from "./layers";
import { fixedColours, type Ground, sizesFor } from "./look";
import { measurer } from "./measure";
import { type Way, wayBetween } from "./motion";
import { pannedBy, within, zoomedAt } from "./moves";
import { listen, type Wishes } from "./pointer";
import { pointingItems } from "./pointing";
import { isSameWindow, type Pair, type Plane, wholeWindow, widenedTo } from "./scales";
import { MOST_SHAPES, type Scene, sceneOf } from "./scene";
import { Stops } from "./stops";
import { type Acts, toolsOf } from "./tools";
import { putBeside, spoken, tell } from "./tooltip";

const USUAL_WIDTH = 760;
const PRINT_WIDTH = 680;
const MILLISECONDS = 350;
const ZOOM_STEP = 1.5;
const PNG_SCALE = 2;
/** Facts in a tooltip; more are for the panel, and so are most on a narrow screen. */
const MANY_FACTS = 16;
const FEW_FACTS = 2;
const NARROW = 520;
/** Pixels by which a finger misses. */
const FINGER = 10;

/** What changes more than what is pointed at. */
const DRAWN = ["chosen", "found", "selected", "joined", "runtimeShown", "bySize"] as const;

export class ChartView {
  readonly #name = freshName();
  readonly #frame: Frame;
  readonly #history: History;
  readonly #hidden = new Set<Entry>();
  readonly #key: ReturnType<typeof keyList>;
  readonly #keys = this.#keysOf();
  readonly #layers: Layers;
  readonly #stops: Stops;
  readonly #cleaners: (() => void)[] = [];
  readonly #measure = measurer();
  #scene: Scene;
  #hits: Hits | null = null;
  #pointed: Found | null = null;
  #outline: readonly [Pair, Pair] | null = null;
  #ground: Ground = "light";
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
    this.#frame = frameOf(chart, this.#name, toolsOf(this.#acts()), this.#key.list);
    this.#layers = new Layers(this.#frame, this.#name);
    this.#stops = new Stops(
      this.#frame.plot,
      (found) => spoken(found, view),
      (found) => this.#point(found, true),
    );
    host.replaceChildren(this.#frame.root);
    this.#width = host.clientWidth || USUAL_WIDTH;
    this.#findGround();
    this.#scene = this.#draw();
    this.#listen();
  }

  toSvg(): string {
    const how = { colour: fixedColours(this.#ground), measure: this.#measure };
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

  #acts(): Acts {
    const saved = (ending: string) => fileName(this.chart.title, ending);
    const { zoom, all, undo } = this.#keys;
    return {
      zoom,
      all,
      undo,
      switchRectangle: () => {
        this.#isRectangle = !this.#isRectangle;
      },
      saveSvg: () => save(saved("svg"), new Blob([this.toSvg()], { type: "image/svg+xml" })),
      savePng: () =>
        this.toPng().then(
          (image) => save(saved("png"), image),
          (error: unknown) => this.#say(`The picture was not saved: ${String(error)}`),
        ),
    };
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
    plot.addEventListener(
      "keydown",
      (event) => {
        const act = meaning(event, this.#keys);
        if (!act) return;
        event.preventDefault();
        act();
      },
      { signal },
    );
    const resized = new ResizeObserver(() => this.#resize());
    resized.observe(this.host);
    const regrounded = (): void => {
      this.#findGround();
      this.#ask();
    };
    const ground = new MutationObserver(regrounded);
    ground.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.#cleaners.push(
      () => resized.disconnect(),
      () => ground.disconnect(),
    );
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", regrounded, {
      signal,
    });
  }

  #resize(): void {
    const width = this.host.clientWidth;
    if (width > 0 && width !== this.#width && !this.#isPrinting) {
      this.#width = width;
      this.#ask();
    }
  }

  print(isPrinting: boolean): void {
    this.#isPrinting = isPrinting;
    this.#findGround();
    this.#width = isPrinting ? PRINT_WIDTH : this.host.clientWidth || USUAL_WIDTH;
    this.#draw();
  }

  /** Asks the browser, which may have to find the style of the whole page. */
  #findGround(): void {
    const paper = getComputedStyle(this.#frame.root).getPropertyValue("--rp-paper").trim();
    const isDark = paper.toUpperCase() === fixedColours("dark")("paper");
    this.#ground = isDark ? "dark" : "light";
  }

  #switch(entry: Entry): void {
    if (!this.#hidden.delete(entry)) this.#hidden.add(entry);
    this.#key.show(this.#hidden);
    this.#draw();
  }

  #changed(state: ViewState, before: ViewState): void {
    if (state.hovered !== before.hovered) this.#drawPointing();
    if (DRAWN.every((name) => state[name] === before[name])) return;
    const isFew = this.#scene.marks.length <= MOST_SHAPES;
    if (
      isFew &&
      state.chosen !== before.chosen &&
      !matchMedia("(prefers-reduced-motion: reduce)").matches
    ) {
      const now = filtered(this.chart, this.view, state, this.#hidden);
      const isLog = { x: this.chart.x.scale === "log", y: this.chart.y.scale === "log" };
      const way = wayBetween(this.#scene.shown, now, isLog);
      this.#way = way ? { way, began: performance.now() } : null;
    }
    this.#ask();
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
    const isMany = scene.marks.length > MOST_SHAPES && !this.#isPrinting;
    this.#layers.draw(scene, isMany, this.#ground);
    // One finger scrolls the page until a part of the plane is seen, which it then moves.
    const isWhole = isSameWindow(this.#history.window, wholeWindow(this.chart));
    this.#frame.plot.style.touchAction = isWhole ? "pan-y" : "none";
    this.#drawPointing();
    this.#drawBadges();
    this.#frame.notes.replaceChildren(
      ...notesOf(scene, this.chart).map((note) => make("p", {}, note)),
    );
    this.#stops.update(() => stops(scene), scene.marks.length > MOST_SHAPES);
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

  #drawPointing(): void {
    const { hovered } = this.store.get();
    const items = pointingItems(this.#scene, {
      pointed: this.#pointed,
      hovered,
      outline: this.#outline,
    });
    this.#layers.fill("pointing", items, this.#scene);
  }

  #drawBadges(): void {
    const show = (places: readonly Place[]): void =>
      this.#goto(widenedTo(this.chart, this.#history.window, places));
    this.#frame.badges.replaceChildren(...badgesOf(this.#scene.outside, show));
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

  /** The plane as it will be drawn next. */
  get #plane(): Plane {
    return { ...this.#scene.plane, window: this.#history.window };
  }

  #zoomMiddle(factor: number): void {
    const { width, height } = this.#scene.plane;
    this.#goto(zoomedAt(this.#plane, factor, [width / 2, height / 2]));
  }

  #keysOf(): Keys {
    const current = (): Found | null => this.#stops.current;
    return {
      zoom: (isIn) => this.#zoomMiddle(isIn ? ZOOM_STEP : 1 / ZOOM_STEP),
      move: (across, down) => {
        const { width, height } = this.#scene.plane;
        this.#goto(pannedBy(this.#plane, [(across * width) / 10, (down * height) / 10]), "keys");
      },
      all: () => this.#goto(wholeWindow(this.chart)),
      undo: () => this.#undo(),
      step: (by) => this.#stops.step(by),
      first: () => this.#stops.go(0),
      last: () => this.#stops.last(),
      join: () => this.#join(current()),
      select: (isAdded) => this.#click(current(), isAdded),
      clear: () => {
        this.#point(null);
        this.store.set({ selected: [], joined: [] });
      },
    };
  }

  #wishes(): Wishes {
    return {
      zoom: (factor, at, gesture) => this.#goto(zoomedAt(this.#plane, factor, at), gesture),
      pan: (by, gesture) => this.#goto(pannedBy(this.#plane, by), gesture),
      outline: (from, to) => {
        this.#outline = to ? [from, to] : null;
        this.#drawPointing();
      },
      rectangle: (from, to) => this.#goto(within(this.#plane, from, to)),
      hover: (at, isTouch) => this.#point(at ? this.#find(at, isTouch) : null),
      click: (at, isAdded, isTouch) => this.#click(this.#find(at, isTouch), isAdded),
      join: (at) => this.#join(this.#find(at, false)),
      isRectangle: () => this.#isRectangle,
    };
  }

  #find([x, y]: Pair, isTouch: boolean): Found | null {
    this.#hits ??= new Hits(this.#scene);
    return this.#hits.at(x, y, isTouch ? FINGER : 0);
  }

  #click(found: Found | null, isAdded: boolean): void {
    if (found) this.#stops.remember(found);
    this.#point(found);
    const subject = found?.thing.subject;
    if (subject) {
      select(this.store, subject, isAdded);
      this.#showTooltip(found);
    }
    if (!found && !isAdded && this.store.get().selected.length > 0)
      this.store.set({ selected: [] });
  }

  #join(found: Found | null): void {
    const subject = found?.thing.subject;
    if (!subject) return;
    join(this.store, subject);
    const isJoined = this.store.get().joined.includes(subject);
    const { joined } = filtered(this.chart, this.view, this.store.get(), this.#hidden);
    const count = joined.find((of) => of.subject === subject)?.marks.length ?? 0;
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
    const { margins } = this.#scene;
    const isInPanel = this.store.get().selected.includes(found.thing.subject ?? "");
    const isFew = isInPanel || stage.clientWidth < NARROW;
    tell(tooltip, found, this.view, isFew ? FEW_FACTS : MANY_FACTS);
    putBeside(tooltip, stage, [found.x + margins.left, found.y + margins.top], found.size);
  }

  #say(text: string): void {
    this.#frame.said.textContent = text;
  }
}
