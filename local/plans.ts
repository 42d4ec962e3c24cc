/**
 * `deno task plans -- on`: turns plans on for everybody on this service, or off. It writes to the database as
 * its owner; no request can. A stack's folder has to be named: a deployment's settings must never change the books
 * beside them.
 */
import { PGlite } from "@electric-sql/pglite";
import { ENV_FILE_OPTION, fail, print, readCommandLine, taskCommand } from "./command_line.ts";
import { type DataFolder, FolderError, openDataFolder } from "./data_folder.ts";
import { extensions, parsers, pgliteDatabase } from "./database/pglite.ts";
import { postgresDatabase } from "./database/postgres.ts";
import type { SqlDatabase } from "./database/sql.ts";
import { DatabaseUrlError, parseDatabaseUrl, projectOf, readDatabaseUrl } from "./database_url.ts";
import { switchPlans } from "./plans/switch_plans.ts";

const usage = `${taskCommand("plans")} -- <on|off> [options]

  on                 plans decide what an organization may use; CHECKOUT_URL does the same at the next start or deploy
  off                every organization has all features, for good, and pages say nothing of plans: the default

  --env-file <path>  where DATABASE_URL is, if not in the environment (.env): the session pooler's address
  --data <folder>    instead of a deployment's database, where a stopped stack keeps its data: .local`;

const { values: { data, "env-file": envPath }, positionals: [to] } = readCommandLine({
  ...ENV_FILE_OPTION,
  data: { type: "string" },
}, usage);
if (to !== "on" && to !== "off") fail(usage);

const { changed, where } = await (data === undefined ? onServer() : inFolder(data)).catch((thrown) =>
  fail(explain(thrown))
);
print(`Plans ${changed ? `are ${to} now` : `were ${to} already`} ${where}.`);

async function onServer() {
  const url = parseDatabaseUrl(await readDatabaseUrl(envPath));
  const project = projectOf(url);
  const database = postgresDatabase(url.href, { max: 1 });
  const { changed } = await switchPlans(database, to as "on" | "off").finally(() => database.close());
  return { changed, where: `on ${url.host}${project ? `, project ${project}` : ""}` };
}

async function inFolder(data: string) {
  if (!await Deno.stat(`${data}/postgres.ready`).catch(() => undefined)) {
    fail(`There is no stack in ${data}. Start one first: ${taskCommand("start")}`);
  }
  const folder = await openDataFolder(data, { fresh: false });
  try {
    const database = await openBooks(folder);
    const { changed } = await switchPlans(database, to as "on" | "off").finally(() => database.close());
    return { changed, where: `in ${data}` };
  } finally {
    await folder.release();
  }
}

async function openBooks(folder: DataFolder): Promise<SqlDatabase> {
  const { folder: files } = await folder.database();
  return await pgliteDatabase(await PGlite.create({ dataDir: files, extensions, parsers }));
}

function explain(thrown: unknown): string {
  if (thrown instanceof DatabaseUrlError) return `${thrown.message}\n\n${usage}`;
  if (thrown instanceof FolderError) return thrown.message;
  const { code, message } = thrown as { code?: string; message: string };
  return code === "42P01" ? "This database has no setting for plans yet: bring its schema up to date first." : message;
}
