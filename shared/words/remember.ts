/** Formatters of `Intl` are slow to create and most are never used: they are made at first use, and kept. */

/** @returns what makes the value at its first call, and returns it from then on. */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** @param make whose result is kept by key. */
export function byKey<Value>(make: (key: string) => Value): (key: string) => Value {
  const all = new Map<string, Value>();
  return (key) => {
    if (!all.has(key)) all.set(key, make(key));
    return all.get(key)!;
  };
}
