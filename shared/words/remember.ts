/** Creates slow formatters of `Intl` on first use, because most are never used, and keeps them. */

/** @returns a function that creates the value at its first call, and returns it from then on */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** @param make creates the value of a key */
export function byKey<Value>(make: (key: string) => Value): (key: string) => Value {
  const all = new Map<string, Value>();
  return (key) => {
    if (!all.has(key)) all.set(key, make(key));
    return all.get(key)!;
  };
}
