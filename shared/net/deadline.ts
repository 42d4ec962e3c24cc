/** One deadline over the steps of a fetch: a step that outlives it counts for nothing, a connection that does is closed. */
import { FetchRefused } from "./refusal.ts";

interface Closable {
  close(): void;
}

/** What `step` comes to, if it does before the deadline. */
export async function before<Result>(deadline: AbortSignal, step: Promise<Result>): Promise<Result> {
  let refuse = () => {};
  const late = new Promise<never>((_, reject) => refuse = () => reject(new FetchRefused("timed_out")));
  deadline.addEventListener("abort", refuse);
  if (deadline.aborted) refuse();
  try {
    return await Promise.race([step, late]);
  } catch (thrown) {
    // Closing what a step waits for may be felt before the deadline's own word arrives.
    throw deadline.aborted ? new FetchRefused("timed_out", { cause: thrown }) : thrown;
  } finally {
    deadline.removeEventListener("abort", refuse);
  }
}

/** Nobody waits for a connection past the deadline, also not for one that is opened after it. */
export function closeAt(deadline: AbortSignal, connection: Closable): void {
  if (deadline.aborted) close(connection);
  else deadline.addEventListener("abort", () => close(connection));
}

/** Also when it is closed already, or belongs to TLS by now. */
export function close(connection: Closable): void {
  try {
    connection.close();
  } catch {
    // Nothing is left to close.
  }
}
