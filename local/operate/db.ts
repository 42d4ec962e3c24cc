/**
 * `deno task operate db`: opens psql, or a small prompt if psql is missing, on a stack's books, as their owner. The
 * embedded database has one connection, so stop its stack first.
 */
import { DATA_OPTION, print, readCommandLine, taskCommand } from "../command_line.ts";
import { postgresDatabase } from "../database/postgres.ts";
import type { SqlDatabase } from "../database/sql.ts";
import { splitPassword } from "../database_url.ts";
import { changeDatabase } from "../operator_database.ts";
import { findStack } from "../running_stack.ts";

const usage = `${taskCommand("operate db")} [options]

  --data <folder>  where the stack keeps its data (.local)

Statements may also come from standard input.`;

const { values: { data } } = readCommandLine(DATA_OPTION, usage);
const url = await findStack(data).then((stack) => stack.database_url, () => undefined);
if (url) {
  if (!await runPsql(url)) {
    const database = postgresDatabase(url, { max: 1 });
    Deno.exit(await prompt(database) && 1);
  }
} else {
  const { result: failures } = await changeDatabase({ data, "env-file": "" }, {
    work: prompt,
    usage,
    explain: ({ message }) => message,
  });
  Deno.exit(failures && 1);
}

/** @returns false if psql is not installed. */
async function runPsql(url: string): Promise<boolean> {
  const { target, env } = splitPassword(url);
  try {
    const { code } = await new Deno.Command("psql", { args: [target], env }).spawn().status;
    if (code !== 0) Deno.exit(code);
    return true;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return false;
    throw thrown;
  }
}

/**
 * Runs a statement once a line outside of `$$` ends with a semicolon, and prints its rows as lines of JSON.
 * @returns the number of failed statements of a script.
 */
async function prompt(database: SqlDatabase): Promise<number> {
  const isPerson = Deno.stdin.isTerminal();
  const ask = (text: string) => void (isPerson && Deno.stdout.writeSync(new TextEncoder().encode(text)));
  let statement = "";
  let failures = 0;
  const run = async () => {
    try {
      for (const row of await database.query(statement)) print(JSON.stringify(row));
    } catch (thrown) {
      failures += 1;
      print((thrown as Error).message, Deno.stderr);
    }
    statement = "";
  };
  ask("> ");
  let rest = "";
  for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      statement += `${line}\n`;
      if (line.trimEnd().endsWith(";") && statement.split("$$").length % 2 === 1) await run();
      ask(statement.trim() ? ". " : "> ");
    }
  }
  statement += rest;
  if (statement.trim()) await run();
  return isPerson ? 0 : failures;
}
