/** Background work after the response: asks the platform to keep the worker alive until it is done. */

interface EdgeRuntime {
  waitUntil(work: Promise<unknown>): void;
}

/** @param work must not reject. */
export function afterAnswer(work: Promise<void>): void {
  (globalThis as { EdgeRuntime?: EdgeRuntime }).EdgeRuntime?.waitUntil(work);
}
