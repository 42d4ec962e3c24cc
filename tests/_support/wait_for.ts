/** Polls for conditions without an event. */

/**
 * Resolves to the first result of `look`.
 * @throws {Error} after `deadlineMs`.
 */
export async function waitFor<Value>(
  look: () => Promise<Value | undefined>,
  { deadlineMs = 30_000, everyMs = 200 }: { deadlineMs?: number; everyMs?: number } = {},
): Promise<Value> {
  for (const end = Date.now() + deadlineMs; Date.now() < end;) {
    const value = await look();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new Error(`Timed out after ${deadlineMs / 1000} s`);
}
