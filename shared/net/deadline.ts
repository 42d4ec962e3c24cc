/** One deadline for all steps of a fetch: late results are discarded, late connections closed. */
import { FetchRefused } from "./refusal.ts";

interface Closable {
  close(): void;
}

/** Resolves with the result of `step` unless the deadline passes first. */
export async function before<Result>(deadline: AbortSignal, step: Promise<Result>): Promise<Result> {
  let refuse = () => {};
  const late = new Promise<never>((_, reject) => refuse = () => reject(new FetchRefused("timed_out")));
  deadline.addEventListener("abort", refuse);
  if (deadline.aborted) refuse();
  try {
    return await Promise.race([step, late]);
  } catch (thrown) {
    // Closing the connection may reject the step before the deadline does.
    throw deadline.aborted ? new FetchRefused("timed_out", { cause: thrown }) : thrown;
  } finally {
    deadline.removeEventListener("abort", refuse);
  }
}

/** Closes a connection at the deadline, or at once if it has passed. */
export function closeAt(deadline: AbortSignal, connection: Closable): void {
  if (deadline.aborted) close(connection);
  else deadline.addEventListener("abort", () => close(connection));
}

/** Safe if the connection is already closed or was handed over to TLS. */
export function close(connection: Closable): void {
  try {
    connection.close();
  } catch {
    // Already closed.
  }
}
