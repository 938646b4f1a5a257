/** Keys that move the focus among the buttons of a table. */

export interface Position {
  row: number;
  button: number;
}

const PAGE = 20; // rows

/** Returns where a key leads; null: it is none that moves. */
export function moveFocus(
  { key, ctrlKey, altKey, metaKey }: KeyboardEvent,
  { row, button }: Position,
  rows: number,
  buttons: number,
): Position | null {
  if (altKey || metaKey) return null;
  const last = rows - 1;
  const to: Record<string, Position> = {
    ArrowDown: { row: row + 1, button },
    ArrowUp: { row: row - 1, button },
    PageDown: { row: row + PAGE, button },
    PageUp: { row: row - PAGE, button },
    ArrowRight: { row, button: button + 1 },
    ArrowLeft: { row, button: button - 1 },
    Home: ctrlKey ? { row: 0, button } : { row, button: 0 },
    End: ctrlKey ? { row: last, button } : { row, button: buttons - 1 },
  };
  const found = to[key];
  if (!found) return null;
  return {
    row: Math.min(Math.max(found.row, 0), Math.max(last, 0)),
    button: Math.min(Math.max(found.button, 0), buttons - 1),
  };
}
