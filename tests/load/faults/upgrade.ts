/**
 * An upgrade during use: first the schema, then the functions, one by one, while both versions answer requests. The new
 * version is the current one with a planted migration (tests/upgrade/planted).
 */
import { applyMigrations, readMigrations } from "../../../local/database/migrations.ts";
import { postgresDatabase } from "../../../local/database/postgres.ts";
import { newCheckout } from "../../upgrade/checkout.ts";
import { type Fault, pause } from "./fault.ts";

const PLANTED = new URL("../../upgrade/planted/", import.meta.url);
const BOTH_MS = 2_500;

export const UPGRADE: Fault[] = [{
  name: "the schema is upgraded, then two versions of the functions answer, then the new one",
  isUnnoticed: true,
  isOfPlatform: true,
  async act({ world }) {
    const migrations = [...await readMigrations(), ...await readMigrations(PLANTED)];
    const database = postgresDatabase(world.databaseUrl, { max: 1 });
    const applied = await applyMigrations(database, migrations).finally(() => database.close());
    if (applied !== 1) throw new Error(`${applied} migrations were applied instead of the planted one`);
    await pause(BOTH_MS);
    const next = await newCheckout({});
    const root = new URL(`file://${next.folder}/`);
    try {
      for (const slug of ["mcp", "oauth", "auth-callback"] as const) await world.functions.add(slug, { root });
      await pause(BOTH_MS);
      for (const slug of ["mcp", "oauth", "auth-callback"] as const) {
        await world.functions.add(slug, { root, replace: true });
      }
      await pause(BOTH_MS);
      await world.functions.replaceAll();
    } finally {
      await next.remove();
    }
  },
}];
