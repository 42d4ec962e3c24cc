/**
 * Runs pgTAP files statement by statement in one transaction that is rolled back, so an error does not lose the other
 * results. `pg_prove` can also run the files.
 */
import type { Session, SqlDatabase } from "../../local/database/sql.ts";

export interface Assertion {
  ok: boolean;
  description: string;
  /** pgTAP's failure message, without the leading `#`. */
  diagnostics: string;
}

/** @throws the database's error, with the failing statement. */
export async function runTap(session: Session, sql: string): Promise<Assertion[]> {
  const assertions: Assertion[] = [];
  for (const statement of splitStatements(sql)) {
    const rows = await session.query(statement).catch((thrown) => {
      throw new Error(`${thrown.message} in: ${statement.slice(0, 400)}`, { cause: thrown });
    });
    for (const line of rows.flatMap((row) => String(Object.values(row)[0]).split("\n"))) {
      const [, not, description] = /^(not )?ok \d+(?: - (.*))?$/.exec(line) ?? [];
      if (description !== undefined) assertions.push({ ok: !not, description, diagnostics: "" });
      else if (line.startsWith("#") && assertions.length > 0) assertions.at(-1)!.diagnostics += `${line.slice(1)}\n`;
    }
  }
  return assertions;
}

/** @throws {Error} naming each failed assertion, or reporting that the file has none. */
export function assertTap(assertions: readonly Assertion[]): void {
  const failed = assertions.filter(({ ok }) => !ok);
  if (assertions.length === 0) throw new Error("The file asserts nothing");
  if (failed.length > 0) {
    throw new Error(failed.map(({ description, diagnostics }) => `${description}\n${diagnostics}`).join("\n"));
  }
}

export async function rolledBack<Result>(
  database: Pick<SqlDatabase, "transaction">,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  let result: Result;
  const takenBack = new Error("taken back");
  await database.transaction(async (session) => {
    result = await work(session);
    throw takenBack;
  }).catch((thrown) => {
    if (thrown !== takenBack) throw thrown;
  });
  return result!;
}

/** The number of pages that a call of a function touches, including its callees. */
export async function pagesOf(session: Session, call: string, args: unknown[] = []): Promise<number> {
  const [row] = await session.query<{ "QUERY PLAN": [{ Plan: Record<string, number> }] }>(
    `explain (analyze, buffers, timing off, format json) ${call}`,
    args,
  );
  const [{ Plan }] = row!["QUERY PLAN"];
  return Plan["Shared Hit Blocks"]! + Plan["Shared Read Blocks"]!;
}

const TOKENS = /'(?:[^']|'')*'|"[^"]*"|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|;|[^'"$\-/;]+|./g;

/** Splits a script into statements, without their semicolons. Quotes, dollar quotes and comments keep theirs. */
export function splitStatements(sql: string): string[] {
  const statements = [""];
  for (const [token] of sql.matchAll(TOKENS)) {
    if (token === ";") statements.push("");
    else if (!token.startsWith("--") && !token.startsWith("/*")) statements[statements.length - 1] += token;
  }
  return statements.map((statement) => statement.trim()).filter(Boolean);
}
