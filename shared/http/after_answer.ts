/** Work that nobody waits for: the platform is asked to keep the worker until it is done. */

interface EdgeRuntime {
  waitUntil(work: Promise<unknown>): void;
}

/** @param work that does not reject. */
export function afterAnswer(work: Promise<void>): void {
  (globalThis as { EdgeRuntime?: EdgeRuntime }).EdgeRuntime?.waitUntil(work);
}
