/** Whether the service can do anything at all: 200 with the database in reach, else 503. */
import type { Endpoint } from "./server.ts";

export const health: Endpoint = async (c, { store }) => {
  const isReachable = await store.ping().catch(() => false);
  return c.json({ ok: isReachable }, isReachable ? 200 : 503, { "cache-control": "no-store" });
};
