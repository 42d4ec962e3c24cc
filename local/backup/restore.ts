/** Restores a backup into a deployed, unused project, atomically. */
import { count } from "../../shared/words/en/phrases.ts";
import { BackupError, run, type Server, start } from "./postgres_tool.ts";
import { SCHEMAS } from "./save.ts";

const PSQL = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"];

/** Deletes the rows that migrations inserted, in the same transaction, because the backup contains its own. */
const EMPTY = `do $$ begin
  execute (
    select 'truncate ' || string_agg(format('%I.%I', t.schemaname, t.tablename), ', ')
    from pg_tables as t where t.schemaname = any ('{${SCHEMAS.join()}}')
  );
end $$`;

interface Counted {
  people: number;
  organizations: number;
}

/** "1 person and 2 organizations" */
export const counts = ({ people, organizations }: Counted): string =>
  `${people} ${people === 1 ? "person" : "people"} and ${count(organizations, "organization")}`;

/** @returns the number of people and organizations afterwards. @throws {BackupError} */
export async function restore({ target, env }: Server, path: string): Promise<Counted> {
  const query = "select (select count(*) from auth.users), (select count(*) from identity.organizations)";
  const counted = async () => {
    const answer = await run("psql", [...PSQL, `--command=${query}`, `--dbname=${target}`], { env });
    const [people, organizations] = answer.trim().split("|").map(Number) as [number, number];
    return { people, organizations };
  };
  const before = await counted();
  if (before.people > 0 || before.organizations > 0) {
    throw new BackupError(
      `That database already has ${
        counts(before)
      }. A backup is restored into a new project: deploy to it, and restore ` +
        `before anybody signs in.`,
    );
  }
  const reading = start("pg_restore", ["--data-only", "--file=-", path]);
  const reason = new Response(reading.stderr).text();
  await run("psql", [
    ...PSQL,
    "--single-transaction",
    // The rows are consistent, so foreign keys and triggers can be skipped.
    "--command=set session_replication_role = replica",
    `--command=${EMPTY}`,
    "--file=-",
    `--dbname=${target}`,
  ], { env, from: endingWhole(reading, reason) });
  return await counted();
}

/** The backup's text. If pg_restore fails, the text ends with an error, which rolls the transaction back. */
function endingWhole(
  { stdout, status }: Deno.ChildProcess,
  reason: Promise<string>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return stdout.pipeThrough(
    new TransformStream({
      async flush(controller) {
        if ((await status).success) return;
        const said = (await reason).trim().split("\n").at(-1)!.replaceAll(/['\\]/g, "");
        controller.enqueue(new TextEncoder().encode(`\n\\.\n;do $$ begin raise exception '${said}'; end $$;\n`));
      },
    }),
  );
}
