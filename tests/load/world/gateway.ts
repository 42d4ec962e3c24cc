/**
 * The platform's gateway between the functions and PostgREST, with faults: slow, hanging or wrong responses, and
 * responses cut off after the database has committed.
 */

export const WEATHER = ["fair", "slow", "hanging", "lying", "cutting"] as const;
export type Weather = typeof WEATHER[number];

export interface Gateway {
  port: number;
  weather: Weather;
  close(): Promise<void>;
}

const SLOW_MS = 1_500;
/** The fraction of failing requests; the others pass. */
const SHARE = 0.5;

/** A faulty gateway's responses with status 200, which our functions never return. */
const LIES = ["null", "[]", "{}", `{"outcome":"ok"}`, "<html>Welcome to nginx!</html>", `{"outcome":"ok","result":`];

export function openGateway(target: number): Gateway {
  const pass = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const { method, headers, body } = request;
    return await fetch(`http://127.0.0.1:${target}${pathname}${search}`, { method, headers, body, redirect: "manual" });
  };
  const answer = async (request: Request): Promise<Response> => {
    if (gateway.weather === "fair" || Math.random() > SHARE) return await pass(request);
    switch (gateway.weather) {
      case "slow":
        await new Promise((resolve) => setTimeout(resolve, SLOW_MS * Math.random()));
        return await pass(request);
      case "hanging":
        return await new Promise(() => {});
      case "lying":
        // Half of the time, the work is done before the wrong response.
        if (Math.random() < 0.5) await (await pass(request)).body?.cancel();
        return new Response(LIES[Math.floor(Math.random() * LIES.length)], {
          headers: { "content-type": "application/json" },
        });
      case "cutting":
        await (await pass(request)).body?.cancel();
        return new Response(new ReadableStream({ start: (stream) => stream.error(new Error("cut")) }));
    }
  };
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {}, onError: () => new Response(null, { status: 502 }) },
    (request) => answer(request),
  );
  const gateway: Gateway = {
    port: server.addr.port,
    weather: "fair",
    // Hanging requests would keep the gateway open.
    close: async () => void await Promise.race([server.shutdown(), new Promise((resolve) => setTimeout(resolve, 300))]),
  };
  return gateway;
}
