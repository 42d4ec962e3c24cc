/** Caches the meaning of cells, for columns with few different values. */

const MOST_KNOWN = 500;

/** @param read the meaning of one cell */
export function lookUp<Value>(read: (cell: string) => Value): (cell: string) => Value {
  const known = new Map<string, Value>();
  return (cell) => {
    const value = known.get(cell);
    if (value !== undefined || known.has(cell)) return value as Value;
    const found = read(cell);
    if (known.size < MOST_KNOWN) known.set(cell, found);
    return found;
  };
}
