/**
 * Starts a function as the edge runtime does, by importing its entry point with a `Deno.serve` that picks the port.
 * Runs on Deno 2.1.4; writes the port to standard output.
 */
const serve = Deno.serve;

const bind = (...args: unknown[]) => {
  const handler = args.find((arg): arg is Deno.ServeHandler => typeof arg === "function");
  if (!handler) throw new Error("Deno.serve() was called without a handler");
  const onListen = ({ port }: { port: number }) => void Deno.stdout.writeSync(new TextEncoder().encode(`${port}\n`));
  return serve({ hostname: "127.0.0.1", port: 0, onListen }, handler);
};

Deno.serve = bind as typeof Deno.serve;
await import(Deno.args[0]!);
