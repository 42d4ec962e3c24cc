/** Health check: 200 with the schema version, or 503 when the database is unreachable. */
import type { Endpoint } from "./server.ts";

export const health: Endpoint = async (c, { store }) => {
  const answer = await store.ping().catch(() => undefined);
  const body = answer ? { ok: true, schema: answer.schema } : { ok: false };
  return c.json(body, answer ? 200 : 503, { "cache-control": "no-store" });
};
