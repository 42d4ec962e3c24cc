/**
 * `deno task backup -- save FILE` and `restore FILE`: all books of a deployment in one file. The backup omits the keys
 * of the settings file, without which nobody can decrypt its credentials.
 */
import { BackupError } from "./backup/postgres_tool.ts";
import { counts, restore } from "./backup/restore.ts";
import { save } from "./backup/save.ts";
import { ENV_FILE_OPTION, fail, print, readCommandLine, taskCommand } from "./command_line.ts";
import { DatabaseUrlError, readDatabaseUrl, splitPassword } from "./database_url.ts";

const usage = `${taskCommand("backup")} -- <save|restore> <file> [options]

  save       writes everything of people into a new file
  restore    puts it into a project that was just deployed and that nobody has used

  --env-file <path>  where DATABASE_URL is, if not in the environment (.env): the session pooler's address`;

const { values: { "env-file": envPath }, positionals: [order, path] } = readCommandLine(ENV_FILE_OPTION, usage);
if ((order !== "save" && order !== "restore") || !path) fail(usage);

try {
  const server = splitPassword(await readDatabaseUrl(envPath));
  if (order === "save") {
    if (await Deno.stat(path).catch(() => undefined)) fail(`${path} is there already, and is not written over.`);
    await save(server, path);
    print(
      `${path}: saved, ${
        ((await Deno.stat(path)).size / 1e6).toFixed(1)
      } MB. Keep it with a copy of the settings file.`,
    );
  } else {
    if (!await Deno.stat(path).catch(() => undefined)) fail(`There is no ${path}.`);
    const restored = await restore(server, path);
    print(
      `Restored: ${counts(restored)}. Next: ${taskCommand("selfcheck")} -- https://<SITE> --env-file ${envPath}`,
    );
  }
} catch (thrown) {
  if (thrown instanceof BackupError || thrown instanceof DatabaseUrlError) fail(thrown.message);
  throw thrown;
}
