/**
 * `deno task plans -- off`: turns plans off for everybody on this service, or on again. It writes to the database as its
 * owner; no request can.
 */
import { PGlite } from "@electric-sql/pglite";
import { fail, print, readCommandLine, taskCommand } from "./command_line.ts";
import { type DataFolder, FolderError, openDataFolder } from "./data_folder.ts";
import { extensions, parsers, pgliteDatabase } from "./database/pglite.ts";
import { postgresDatabase } from "./database/postgres.ts";
import type { SqlDatabase } from "./database/sql.ts";
import { switchPlans } from "./plans/switch_plans.ts";

const usage = `${taskCommand("plans")} -- <on|off> [options]

  off              everybody has everything, for good, and pages say nothing of plans
  on               plans decide what an organization may use

  --db <URL>       postgres://… of the owner of a deployment's database; DATABASE_URL if absent
  --data <folder>  where a stopped stack keeps its data, if there is no URL (.local)`;

const { values, positionals: [to] } = readCommandLine({
  db: { type: "string", default: Deno.env.get("DATABASE_URL") },
  data: { type: "string", default: ".local" },
}, usage);
if (to !== "on" && to !== "off") fail(usage);

const { db } = values;
if (db && !/^postgres(ql)?:\/\//.test(db)) fail("The database's URL is not postgres://…");
const { changed } = await (db ? onServer(db) : inFolder(values.data)).catch((thrown) => fail(explain(thrown)));
print(changed ? `Plans are ${to} now.` : `Plans were ${to} already.`);

async function onServer(url: string) {
  const database = postgresDatabase(url, { max: 1 });
  return await switchPlans(database, to as "on" | "off").finally(() => database.close());
}

async function inFolder(data: string) {
  if (!await Deno.stat(`${data}/postgres.ready`).catch(() => undefined)) {
    fail(`There is no stack in ${data}. Start one first: ${taskCommand("start")}`);
  }
  const folder = await openDataFolder(data, { fresh: false });
  try {
    const database = await openBooks(folder);
    return await switchPlans(database, to as "on" | "off").finally(() => database.close());
  } finally {
    await folder.release();
  }
}

async function openBooks(folder: DataFolder): Promise<SqlDatabase> {
  const { folder: files } = await folder.database();
  return await pgliteDatabase(await PGlite.create({ dataDir: files, extensions, parsers }));
}

function explain(thrown: unknown): string {
  if (thrown instanceof FolderError) return thrown.message;
  const { code, message } = thrown as { code?: string; message: string };
  return code === "42P01" ? "This database has no setting for plans yet: bring its schema up to date first." : message;
}
