/**
 * The cost of large files: their commits on tables in each state, all steps of the largest file, a preview, and the
 * slowest request.
 */
import process from "node:process";
import { WORK_MS } from "../../functions/auth-callback/import/upload.ts";
import { keepFile, type Kept, type Step, workThrough } from "../../shared/import/import_work.ts";
import { type Books, type Json, openBooks } from "../../tests/_support/books.ts";
import { startCluster } from "../../tests/_support/cluster.ts";
import { collectGarbage } from "../../tests/_support/collect_garbage.ts";
import { openDatabase, type TestDatabase } from "../../tests/_support/database.ts";
import { importOfFile } from "../../tests/_support/import_args.ts";
import type { Options, Row } from "../measure/row.ts";
import { spreadOf } from "../measure/stats.ts";

const STATES = ["never analyzed", "analyzed while small", "analyzed when large"] as const;
const commitOf = (state: typeof STATES[number]) => `import: 5,000 rows committed, ${state}`;
const [WHOLE, HEAP, PREVIEW, REQUEST] = [
  "import: 50,000 rows, from the file to the books",
  "import: 50,000 rows, heap",
  "import: preview of 2,000 rows",
  "import: processor of the worst request",
] as const;
export const NAMES = [...STATES.map(commitOf), WHOLE, HEAP, PREVIEW, REQUEST];

const major = (cents: number) => (cents / 100).toFixed(2);

/** A card over four years, whose balance proves each line. */
function statement(rows: number): string {
  const lines = ["Date,Description,Amount,Balance"];
  let spent = 0;
  for (let i = 0; i < rows; i++) {
    const cents = 100 + i * 7919 % 9000;
    spent += cents;
    const day = new Date(Date.UTC(2022, 10, 1 + i * 4 * 365 / rows)).toISOString().slice(0, 10);
    lines.push(`${day},SHOP ${i % 700} BERLIN,-${major(cents)},${major(1_000_000_000 - spent)}`);
  }
  return lines.join("\n");
}

const inMs = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

/** The longest call that PostgREST allows the connector. */
const longCall = (database: TestDatabase, books: Books, args: Json): Promise<Json> =>
  database.asRole("authenticated", { sub: books.userId, organization_id: books.organizationId }, async (session) => {
    await session.query("set local statement_timeout = '120s'");
    const [row] = await session.query<{ result: Json }>(
      "select app.run_tool('import_expenses', $1::text::jsonb, $2) as result",
      [JSON.stringify(args), `${books.today()}T12:00:00Z`],
    );
    if (!row!.result.ok) throw new Error(JSON.stringify(row!.result.error));
    return row!.result;
  });

interface Uploaded {
  importId: string;
  /** The processor time of the function's process for each request. */
  cpuMs: number[];
  heapKb: number;
}

/** Sends a file as the upload page does, request by request. */
async function upload(books: Books, text: string): Promise<Uploaded> {
  const clock = () => new Date();
  const cpuMs: number[] = [];
  let [heapKb, steps, collectedMs] = [0, 0, 0];
  const cpu = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000 - collectedMs;
  };
  const step: Step = async (args) => {
    const facts = await books.facts("import_expenses", args);
    if (steps++ % 10 === 0) {
      const since = cpu();
      collectGarbage?.();
      collectedMs += cpu() - since;
      heapKb = Math.max(heapKb, Deno.memoryUsage().heapUsed / 1024);
    }
    return facts;
  };
  let kept: Kept | undefined;
  let importId = "";
  for (;;) {
    const since = cpu();
    const deadline = new Date(clock().getTime() + WORK_MS);
    if (importId === "") {
      const answer = await keepFile(step, { text, account: "Visa 1234" }, clock);
      if ("problem" in answer) throw new Error(JSON.stringify(answer));
      [kept, importId] = [answer, answer.state.import_id];
    }
    const result = await workThrough(step, { importId, clock, deadline, kept });
    kept = undefined;
    cpuMs.push(cpu() - since);
    if ("problem" in result) throw new Error(JSON.stringify(result));
    if (result.state === "ready") return { importId, cpuMs, heapKb };
  }
}

async function commit(database: TestDatabase, books: Books, importId: string): Promise<void> {
  const { preview } = await books.ok("import_expenses", { import_id: importId });
  await longCall(database, books, preview.commit_with);
}

export async function measureImports({ isShort, only }: Options): Promise<Row[]> {
  const rows: Row[] = [];
  const isWanted = (name: string) => name.includes(only);
  const add = (name: string, values: number[], unit: Row["unit"], detail: string) =>
    rows.push({ name, value: spreadOf(values), unit, detail, errors: 0 });
  const cluster = await startCluster();
  const withBooks = async (work: (database: TestDatabase, books: Books) => Promise<void>) => {
    await using database = await openDatabase(cluster.urlOf("postgres", "supabase_exposed"));
    await work(database, await openBooks(database));
  };
  try {
    for (const state of STATES.filter((state) => isWanted(commitOf(state)))) {
      const times: number[] = [];
      for (let round = 0; round < (isShort ? 1 : 3); round++) {
        await withBooks(async (database, books) => {
          const analyze = (when: typeof state) => state === when && database.exec("analyze");
          await books.ok("log_expenses", { items: [{ name: "Said", amount: "5", date: "2022-11-02" }] });
          await analyze("analyzed while small");
          const { importId } = await upload(books, statement(5000));
          await analyze("analyzed when large");
          times.push(await inMs(() => commit(database, books, importId)));
        });
      }
      add(commitOf(state), times, "ms", `PostgreSQL ${cluster.version}`);
    }
    if ([WHOLE, HEAP, REQUEST].some(isWanted)) {
      await withBooks(async (database, books) => {
        const text = statement(isShort ? 14_000 : 50_000);
        let uploaded: Uploaded | undefined;
        const wholeMs = await inMs(async () => {
          uploaded = await upload(books, text);
          await commit(database, books, uploaded.importId);
        });
        const { cpuMs, heapKb } = uploaded!;
        const detail = `${cpuMs.length} requests`;
        add(WHOLE, [wholeMs], "ms", detail);
        add(HEAP, [heapKb], "kB", detail);
        add(REQUEST, [Math.max(...cpuMs)], "ms", `of ${cpuMs.map((ms) => ms.toFixed(0)).join(", ")} ms; hosted: 2,000`);
      });
    }
    if (isWanted(PREVIEW)) {
      const times: number[] = [];
      for (let round = 0; round < (isShort ? 2 : 5); round++) {
        await withBooks(async (_, books) => {
          times.push(await inMs(() => books.ok("import_expenses", importOfFile(statement(2000), { account: "Visa" }))));
        });
      }
      add(PREVIEW, times, "ms", "in one call");
    }
  } finally {
    await cluster.stop();
  }
  return rows.filter(({ name }) => isWanted(name));
}
