/** The single port of the stack. It opens immediately and responds with 503 until the stack is ready. */
import { describeError, type Log } from "../shared/log.ts";

/** @param client the caller. */
export type Answer = (request: Request, client: { address: string }) => Promise<Response> | Response;

export interface HttpServer {
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** Until this is called, every request gets 503. */
  answerWith(answer: Answer): void;
  /** Stops listening and gives pending requests a moment to finish. */
  close(): Promise<void>;
}

/** A stream may never end by itself, but the stack must stop when asked. */
const GRACE_MS = 1500;

/**
 * @param port 0 for any free one.
 * @param graceMs how long pending requests may take after the server closes.
 * @throws {Deno.errors.AddrInUse}
 */
export function listen(port: number, log: Log, graceMs = GRACE_MS): HttpServer {
  let answer: Answer = () => new Response("Starting\n", { status: 503, headers: { "retry-after": "1" } });
  const onError = (thrown: unknown) => {
    log.error("failure", { error: describeError(thrown) });
    return new Response("The stack failed; see its log\n", { status: 500 });
  };
  const server = Deno.serve(
    { hostname: "127.0.0.1", port, onListen() {}, onError },
    (request, { remoteAddr }) => answer(request, { address: remoteAddr.hostname }),
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    answerWith: (next) => void (answer = next),
    async close() {
      const { promise: graceIsOver, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, graceMs);
      await Promise.race([server.shutdown(), graceIsOver]);
      clearTimeout(timer);
    },
  };
}
