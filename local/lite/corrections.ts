/**
 * Corrections that let `@supabase/lite` 0.10.0 stand in for PostgREST and the identity provider. Each correction has a
 * test in `tests/local/` that fails when an upgrade makes it unnecessary or breaks its assumptions.
 *
 * 1. PGlite has one connection, which lite shares among requests without a lock: `serial_driver.ts`.
 * 2. At the first request lite grants ALL on the tables of every schema with row level security: `keepGrants` below.
 * 3. At each start it restores helpers of schema auth that ignore `request.jwt.claims`: `../database/auth.sql`.
 * 4. Arguments of functions are not read as PostgREST reads them: `arguments.ts`, and the types in `../database/`.
 * 5. Most SQLSTATEs become 500 without their code: `wire_errors.ts`.
 * 6. Its identity provider lacks PKCE for mail links, redirects, six-digit codes, claims and the admin API: `../auth/`.
 * 7. postgres.js continues a transaction on another connection after losing its own: `../database/postgres.ts`, tested
 *    by `tests/pg/lost_connections.ts`.
 * 8. PGlite does not lock its folder: `../data_folder.ts`.
 */
import type { PGlite } from "@electric-sql/pglite";
import type { Connection } from "@supabase/lite";
import { PgliteConnection } from "@supabase/lite/pglite";
import { correctArguments } from "./arguments.ts";
import { serialKysely } from "./serial_driver.ts";
import { toWireError } from "./wire_errors.ts";

/** Corrections 1, 2, 4 and 5. Call it after the migrations, before the first request. */
export async function correctConnection(connection: Connection): Promise<void> {
  if (connection instanceof PgliteConnection) connection.kysely = serialKysely(connection.driver as PGlite);
  keepGrants(connection);
  correctArguments(connection);
  const normalize = connection.normalizeDbError.bind(connection);
  connection.normalizeDbError = (failure) => toWireError(normalize(failure));
  await connection.clearSchemaCache();
}

// lite adds grants when it first checks whether any table has row level security. If that check's result is already
// set, it applies roles without granting anything.
function keepGrants(connection: Connection): void {
  const state = connection as unknown as { rlsState: "unknown" | "active" | "inactive" };
  if (state.rlsState !== "unknown") {
    throw new Error("@supabase/lite has no rlsState to preset: grants would be changed");
  }
  state.rlsState = "active";
}
