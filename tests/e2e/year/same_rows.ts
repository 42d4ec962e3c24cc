/** Compares rows in any order and reports only the differing ones, because the diff of two long lists takes minutes. */
import { assertEquals } from "@std/assert";

export function assertSameRows(actual: readonly string[], expected: readonly string[], about: string): void {
  const missing = [...expected];
  const unexpected = actual.filter((row) => {
    const place = missing.indexOf(row);
    if (place >= 0) missing.splice(place, 1);
    return place < 0;
  });
  assertEquals({ unexpected, missing }, { unexpected: [], missing: [] }, about);
}
