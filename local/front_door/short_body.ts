/** Reads a short body before forwarding it, so that a slow sender occupies no connection of the functions. */
import type { Timer } from "../../shared/clock.ts";

const SHORT_BYTES = 65_536;
const DEADLINE_MS = 15_000;

/** The sender was too slow (408) or disconnected (400). */
export class SenderFailed extends Error {
  constructor(readonly status: 400 | 408) {
    super(status === 408 ? "The request arrived too slowly." : "The request did not arrive whole.");
  }
}

/** @returns the body, as a stream if it is long or has no declared length. @throws {SenderFailed} */
export async function readShortBody(request: Request, timer: Timer): Promise<BodyInit | null> {
  const length = request.headers.get("content-length");
  if (!request.body || length === null || Number(length) > SHORT_BYTES) return request.body;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = timer(DEADLINE_MS, () => reject(new SenderFailed(408)));
  const read = request.arrayBuffer().catch(() => Promise.reject(new SenderFailed(400)));
  try {
    return await Promise.race([read, late]);
  } finally {
    cancel();
  }
}
