/** Requests per second of the service, its floor and better-auth, and the processor time of a function. */
import type { SqlDatabase } from "../../local/database/sql.ts";
import { codeExchange, floorCodes, largeOwner, paymentEvents, refreshing, registration } from "../hops/loads.ts";
import { CLIENT_ID, serviceCodes, type TokenEndpoint, tokensFrom, toolCalls } from "../hops/loads.ts";
import { openWorld, type World } from "../hops/world.ts";
import { type Block, type Failures, Lanes, type Load } from "../measure/load.ts";
import type { Started } from "../measure/processes.ts";
import { alternate, ratiosOf } from "../measure/rounds.ts";
import type { Options, Row } from "../measure/row.ts";
import { median, quantile } from "../measure/stats.ts";
import { install, NATIVE, REGISTER, startBetterAuth } from "../peers/better_auth.ts";

const CONCURRENCY = 8;
/** Untimed blocks before the first round, until the code is optimized and the statements are prepared. */
const WARM = 3;

export const NAMES = [
  "registration / better-auth",
  "registration / floor",
  "code / better-auth",
  "code / floor",
  "refresh / better-auth",
  "refresh / floor",
  "get_context / better-auth",
  "get_context / floor",
  "processor of get_context",
  "webhook / floor",
];

interface Side {
  server: Started;
  load: Load;
}
type Measured = Block & { cpuMs: number };

export async function measureEndpoints({ isShort, only }: Options): Promise<Row[]> {
  const wanted = (operation: string) => NAMES.some((name) => name.includes(operation) && name.includes(only));
  const [rounds, requests] = isShort ? [4, 150] : [20, 300];
  await install();
  const world = await openWorld();
  const rows: Row[] = [];
  try {
    const servers = await startServers(world);
    for (const [operation, sidesOf] of Object.entries(OPERATIONS)) {
      if (!wanted(operation)) continue;
      const sides = await sidesOf(servers, world);
      rows.push(...await compare(operation, sides, { rounds, requests, admin: world.admin }));
    }
    return rows;
  } finally {
    await world.close();
  }
}

async function startServers(world: World) {
  return {
    oauth: await world.startFunction("oauth"),
    mcp: await world.startFunction("mcp"),
    webhook: await world.startFunction("payment-webhook"),
    peer: await startBetterAuth(world.cluster, { introspects: false }),
    introspecting: await startBetterAuth(world.cluster, { introspects: true }),
  };
}
type Servers = Awaited<ReturnType<typeof startServers>>;

const PATH = "/api/oauth/token";
const ours = (more: Partial<TokenEndpoint> = {}): TokenEndpoint => (
  { path: PATH, clientId: CLIENT_ID, codes: serviceCodes(), ...more }
);
const floors = ({ admin }: World): TokenEndpoint => ({ path: PATH, clientId: CLIENT_ID, codes: floorCodes(admin) });

/** The sides of each operation, the service first. */
const OPERATIONS: Record<string, (servers: Servers, world: World) => Promise<Record<string, Side>>> = {
  registration: ({ oauth, peer }, { floor }) =>
    Promise.resolve({
      service: { server: oauth, load: registration("/api/oauth/register") },
      floor: { server: floor, load: registration("/api/oauth/register") },
      "better-auth": { server: peer.server, load: registration(REGISTER, NATIVE) },
    }),
  code: ({ oauth, peer }, world) =>
    Promise.resolve({
      service: { server: oauth, load: codeExchange(ours()) },
      floor: { server: world.floor, load: codeExchange(floors(world)) },
      "better-auth": { server: peer.server, load: codeExchange(peer.tokens) },
    }),
  async refresh({ oauth, peer }, world) {
    const side = async (server: Started, to: TokenEndpoint) => ({
      server,
      load: refreshing(to, await tokensFrom(server.port, to, CONCURRENCY)),
    });
    return {
      service: await side(oauth, ours()),
      floor: await side(world.floor, floors(world)),
      "better-auth": await side(peer.server, peer.tokens),
    };
  },
  async get_context({ oauth, mcp, introspecting: { server, tokens } }, { floor }) {
    const owner = await tokensFrom(oauth.port, ours({ codes: serviceCodes(largeOwner) }), 16);
    const peers = await tokensFrom(server.port, tokens, 16);
    // The operations that all three support.
    const era = "2025-11-25";
    const context = { path: "/api/mcp", era, tool: "get_context", args: {} } as const;
    return {
      service: {
        server: mcp,
        load: toolCalls({ ...context, tokens: owner.map((one) => one.access_token), says: "Large" }),
      },
      floor: {
        server: floor,
        load: toolCalls({
          ...context,
          tokens: Array.from({ length: 64 }, (_, n) => `token_${1 + n * 97}`),
          says: "Person",
        }),
      },
      "better-auth": {
        server,
        load: toolCalls({
          path: "/mcp",
          era,
          tool: "add",
          args: { a: 1, b: 2 },
          tokens: peers.map((one) => one.access_token),
          says: `"text":"3"`,
        }),
      },
    };
  },
  webhook: ({ webhook }, { floor }) => {
    return Promise.resolve({
      service: { server: webhook, load: paymentEvents() },
      floor: { server: floor, load: paymentEvents() },
    });
  },
};

async function compare(
  operation: string,
  sides: Record<string, Side>,
  { rounds, requests, admin }: { rounds: number; requests: number; admin: SqlDatabase },
): Promise<Row[]> {
  const failures: Failures = {};
  const lanes = Object.entries(sides).map(([name, { server, load }]) => ({
    name,
    server,
    load,
    lanes: new Lanes(server.port, CONCURRENCY),
  }));
  const blocks = Object.fromEntries(lanes.map(({ name, server, load, lanes }) => [name, async () => {
    // Created before the processor time is read, because the exchange must not include the time to issue a code.
    await load.prepare(requests);
    const before = server.cpuMs();
    const block = await lanes.block({ ...load, prepare: () => Promise.resolve() }, requests, failures);
    return { ...block, cpuMs: (server.cpuMs() - before) / requests };
  }]));
  for (let warm = 0; warm < WARM; warm++) for (const block of Object.values(blocks)) await block();
  // Analyzes the tables, as autovacuum does on a long-running server, because the first plans assume empty tables.
  await admin.exec("vacuum analyze");
  const measured: Record<string, Measured[]> = await alternate(blocks, rounds);
  for (const one of lanes) one.lanes.close();
  const { service, ...others } = measured as { service: Measured[] } & Record<string, Measured[]>;
  const told = (name: string, of: Measured[]) =>
    `${name} ${median(of.map(({ perSecond }) => perSecond)).toFixed(0)}/s, ` +
    `p95 ${quantile(of.flatMap(({ latencies }) => latencies), 0.95).toFixed(1)} ms, ` +
    `${median(of.map(({ cpuMs }) => cpuMs)).toFixed(2)} ms of processor`;
  const errorsOf = (...sides: Measured[][]) => sides.flat().reduce((sum, { errors }) => sum + errors, 0);
  const rows: Row[] = Object.entries(others).map(([name, of]) => ({
    name: `${operation} / ${name}`,
    against: name,
    value: ratiosOf(service.map(({ perSecond }) => perSecond), of.map(({ perSecond }) => perSecond)),
    unit: "times",
    detail: `${told("service", service)}; ${told(name, of)}${failures.first ? `; ${failures.first}` : ""}`,
    errors: errorsOf(service, of),
  }));
  if (operation === "get_context") {
    rows.push({
      name: "processor of get_context",
      against: "floor",
      value: ratiosOf(service.map(({ cpuMs }) => cpuMs), measured.floor!.map(({ cpuMs }) => cpuMs)),
      unit: "times",
      detail: "the function's process alone",
      errors: errorsOf(service, measured.floor!),
    });
  }
  return rows;
}
