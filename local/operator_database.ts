/**
 * The database that an operator's command changes, as its owner. The command line must name a local stack's folder, so
 * that a command with a deployment's settings never changes a local stack's books.
 */
import { PGlite } from "@electric-sql/pglite";
import { ENV_FILE_OPTION, fail, taskCommand } from "./command_line.ts";
import { FolderError, openDataFolder } from "./data_folder.ts";
import { extensions, parsers, pgliteDatabase } from "./database/pglite.ts";
import { postgresDatabase } from "./database/postgres.ts";
import type { SqlDatabase } from "./database/sql.ts";
import { DatabaseUrlError, parseDatabaseUrl, projectOf, readDatabaseUrl } from "./database_url.ts";

export const OPERATOR_OPTIONS = { ...ENV_FILE_OPTION, data: { type: "string" } } as const;

export const OPERATOR_USAGE =
  `  --env-file <path>  where DATABASE_URL is, if not in the environment (.env): the session pooler's address
  --data <folder>    the data folder of a stopped stack, used instead of a deployment's database: .local`;

export interface OperatorPlace {
  data?: string | undefined;
  "env-file": string;
}

/**
 * @returns the result of the work, and a description of the changed database. Ends the program on an expected error.
 */
export async function changeDatabase<Result>(
  { data, "env-file": envPath }: OperatorPlace,
  { work, usage, explain }: {
    work: (database: SqlDatabase) => Promise<Result>;
    usage: string;
    explain: (thrown: { code?: string; message: string }) => string;
  },
): Promise<{ result: Result; where: string }> {
  const done = data === undefined ? onServer(envPath, work) : inFolder(data, work);
  return await done.catch((thrown) =>
    fail(
      thrown instanceof DatabaseUrlError
        ? `${thrown.message}\n\n${usage}`
        : thrown instanceof FolderError
        ? thrown.message
        : explain(thrown),
    )
  );
}

async function onServer<Result>(envPath: string, work: (database: SqlDatabase) => Promise<Result>) {
  const url = parseDatabaseUrl(await readDatabaseUrl(envPath));
  const project = projectOf(url);
  const database = postgresDatabase(url.href, { max: 1 });
  const result = await work(database).finally(() => database.close());
  return { result, where: `on ${url.host}${project ? `, project ${project}` : ""}` };
}

async function inFolder<Result>(data: string, work: (database: SqlDatabase) => Promise<Result>) {
  if (!await Deno.stat(`${data}/postgres.ready`).catch(() => undefined)) {
    fail(`There is no stack in ${data}. Start one first: ${taskCommand("start")}`);
  }
  const folder = await openDataFolder(data, { fresh: false });
  try {
    const { folder: files } = await folder.database();
    const database = await pgliteDatabase(await PGlite.create({ dataDir: files, extensions, parsers }));
    const result = await work(database).finally(() => database.close());
    return { result, where: `in ${data}` };
  } finally {
    await folder.release();
  }
}
