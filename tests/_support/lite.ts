/** `@supabase/lite` on a migrated database, with our corrections or as shipped. */
import { createPgliteConnection } from "@supabase/lite/pglite";
import type { App } from "@supabase/lite";
import { extensions, parsers, pgliteDatabase, serializers } from "../../local/database/pglite.ts";
import type { SqlDatabase } from "../../local/database/sql.ts";
import { createLiteApp } from "../../local/lite/app.ts";
import { correctConnection } from "../../local/lite/corrections.ts";
import { databaseTemplate, SETTINGS } from "./database.ts";

export interface Lite {
  app: App;
  /** The same database, without lite. */
  database: SqlDatabase;
  /** Calls `public.<name>(args)` with the secret key or a user's token. */
  rpc(name: string, args?: unknown, token?: string): Promise<Response>;
  close(): Promise<void>;
}

/** @param prepare SQL to run before lite reads the schema. */
export async function openLite({ corrected, prepare }: { corrected: boolean; prepare: string }): Promise<Lite> {
  const loadDataDir = await databaseTemplate();
  const connection = await createPgliteConnection({
    url: "memory://",
    pgliteOptions: { extensions, parsers, serializers, loadDataDir },
  });
  const database = await pgliteDatabase(connection.driver);
  const app = createLiteApp(connection, SETTINGS);
  await app.init();
  await database.exec(prepare);
  if (corrected) await correctConnection(connection);
  resetExitCode();
  return {
    app,
    database,
    close: () => connection.close().finally(resetExitCode),
    rpc: callRpc(app),
  };
}

export const callRpc = (app: App): Lite["rpc"] => async (name, args = {}, token) => {
  const request = new Request(`${SETTINGS.siteUrl}/rest/v1/rpc/${name}`, {
    method: "POST",
    headers: {
      apikey: token ? SETTINGS.publishableKey : SETTINGS.secretKey,
      "content-type": "application/json",
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(args),
  });
  const response = await app.fetch(request);
  resetExitCode();
  return response;
};

/** PGlite sets an exit code at startup and after every SQL error, which would fail the test run. */
const resetExitCode = () => void (Deno.exitCode = 0);
