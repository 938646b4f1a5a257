/** Keys on a chart, as what they mean. */

export interface Keys {
  zoom(isIn: boolean): void;
  /** Moves what is seen by tenths of the plot, to the right and down. */
  move(across: number, down: number): void;
  all(): void;
  undo(): void;
  step(by: number): void;
  first(): void;
  last(): void;
  join(): void;
  select(isAdded: boolean): void;
  clear(): void;
}

/** Returns what a key asks for; undefined: nothing. */
export function meaning(event: KeyboardEvent, keys: Keys): (() => void) | undefined {
  const { key, shiftKey, altKey } = event;
  const isAdded = event.ctrlKey || event.metaKey;
  if (altKey || (isAdded && key !== " ")) return undefined;
  const moved = shiftKey ? shifted(key, keys) : undefined;
  return moved ?? plain(key, isAdded, keys);
}

function shifted(key: string, keys: Keys): (() => void) | undefined {
  switch (key) {
    case "ArrowLeft":
      return () => keys.move(1, 0);
    case "ArrowRight":
      return () => keys.move(-1, 0);
    case "ArrowUp":
      return () => keys.move(0, 1);
    case "ArrowDown":
      return () => keys.move(0, -1);
    default:
      return undefined;
  }
}

function plain(key: string, isAdded: boolean, keys: Keys): (() => void) | undefined {
  switch (key) {
    case "ArrowLeft":
    case "ArrowUp":
      return () => keys.step(-1);
    case "ArrowRight":
    case "ArrowDown":
      return () => keys.step(1);
    case "Home":
      return keys.first;
    case "End":
      return keys.last;
    case "Enter":
      return keys.join;
    case " ":
      return () => keys.select(isAdded);
    case "Escape":
      return keys.clear;
    case "+":
    case "=":
      return () => keys.zoom(true);
    case "-":
      return () => keys.zoom(false);
    case "0":
      return keys.all;
    case "u":
      return keys.undo;
    default:
      return undefined;
  }
}
