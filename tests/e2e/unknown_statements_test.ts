/**
 * Every file of tests/fixtures/unknown_statements through the connector, as the text of a call and as an uploaded file:
 * only permitted questions and refusals, and books with the expected totals and rows.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { createImportStore } from "../../shared/db/import_store.ts";
import { decodeFile } from "../../shared/import/decode_file.ts";
import { keepFile, type Step, workThrough } from "../../shared/import/import_work.ts";
import type { Mapping } from "../../shared/import/read_import.ts";
import { readUpload } from "../../shared/import/read_upload.ts";
import { sharedDatabase } from "../_support/database.ts";
import { IS_SHORT } from "../_support/short_form.ts";
import { type Json, type Member, newMember } from "./connector_harness.ts";

interface Expected {
  /** For a case that is a list of calls. */
  calls?: [string, Record<string, unknown>][];
  /** The day of the import. */
  clock?: string;
  via: "csv" | "upload";
  file: string;
  default_currency: string | null;
  rows: { date: string; amount: string; currency: string; text: string }[];
  totals: Record<string, string>;
  questions_excused: string[];
  refusal_excused: boolean;
  also_accepted: Record<string, string>[];
  answers: Mapping;
}

const FOLDER = new URL("../fixtures/unknown_statements/", import.meta.url);
const NOW = "2026-11-27T10:00:00Z";
const inCents = (totals: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(totals).map(([currency, sum]) => [currency, Number(sum)] as const).filter(([, sum]) => sum !== 0)
      .toSorted(),
  );

const database = await sharedDatabase();

/** The preview of a file that was sent to the upload page. */
async function upload({ userId, organizationId, call }: Member, bytes: Uint8Array, { file, ...expected }: Expected) {
  const clock = () => new Date(expected.clock ?? NOW);
  const currency = expected.default_currency ? { default_currency: expected.default_currency } : {};
  const { envelope } = await call("import_expenses", currency);
  const { import_id } = envelope.data.upload;
  const store = createImportStore({
    call: (name, args) => database.asService(name, args),
  });
  const step: Step = async (args) => {
    const answer = await store.runStep({ userId, organizationId, arguments: { import_id, ...args }, at: clock() });
    if (answer.outcome !== "ok") throw new Error(answer.outcome);
    return answer.result;
  };
  const read = readUpload(bytes, file);
  if ("code" in read) throw new Error(read.code);
  const kept = await keepFile(step, { text: read.text, name: file, importId: import_id }, clock);
  if ("problem" in kept) return { ok: false, error: kept.problem };
  await workThrough(step, { importId: import_id, clock, deadline: new Date(clock().getTime() + 60_000), kept });
  return (await call("import_expenses", { import_id })).envelope;
}

const send = async ({ call }: Member, csv: string, { default_currency }: Expected, mapping?: Mapping) =>
  (await call("import_expenses", { csv, ...(mapping && { mapping }), ...(default_currency && { default_currency }) }))
    .envelope;

const isConvention = (id: string) => /^(date_format|decimal|negative_is_expense)$/.test(id);

/** "right", "asked", "refused", or the fault. */
async function outcomeOf(member: Member, first: Json, expected: Expected, again: (mapping: Mapping) => Promise<Json>) {
  const { answers, questions_excused, refusal_excused } = expected;
  let envelope = first;
  const asked: string[] = envelope.ok
    ? envelope.data.preview.questions.map(({ id }: Json) => id)
    : envelope.error.details?.questions?.map(({ id }: Json) => id) ?? [];
  const needless = asked.filter((id) => !questions_excused.includes(id));
  if (needless.length > 0) return `asks ${needless}`;
  if (!envelope.ok && asked.length === 0 && !refusal_excused) return `refused: ${JSON.stringify(envelope.error)}`;
  if (!envelope.ok || asked.length > 0) {
    if (Object.keys(answers).length === 0) return asked.length > 0 ? "asked" : "refused";
    envelope = await again(answers);
    if (!envelope.ok) return `refused the answer: ${JSON.stringify(envelope.error)}`;
  }
  const { preview } = envelope.data;
  const commit = await member.call("import_expenses", { ...preview.commit_with, create_missing_categories: true });
  if (!commit.envelope.ok) return `no commit: ${JSON.stringify(commit.envelope.error)}`;
  const { envelope: list } = await member.call("list_expenses", { limit: 100 });
  const totals = inCents(list.totals_by_currency);
  if (JSON.stringify(totals) !== JSON.stringify(inCents(expected.totals))) {
    const isAccepted = expected.also_accepted.some((one) => JSON.stringify(inCents(one)) === JSON.stringify(totals));
    return isAccepted ? "right" : `totals ${JSON.stringify(totals)}`;
  }
  const missing = expected.rows.filter(({ date, amount, currency, text }) =>
    !list.data.rows.some((row: Json) =>
      row.date === date && Math.abs(Number(row.amount)) === Math.abs(Number(amount)) && row.currency === currency &&
      `${row.name} ${row.payee} ${row.note}`.toLowerCase().includes(text.toLowerCase())
    )
  );
  return missing.length > 0 ? `missing ${JSON.stringify(missing)} of ${JSON.stringify(list.data.rows)}` : "right";
}

const newPerson = ({ clock = NOW }: Expected) => newMember(database, { clock: () => new Date(clock) });

const CASES = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).toSorted().map((name) => {
  const at = new URL(`${name}/`, FOLDER);
  return { name, at, expected: JSON.parse(Deno.readTextFileSync(new URL("expected.json", at))) as Expected };
});

const WAYS = ["csv", "upload"] as const;

for (const [place, { name, at, expected }] of CASES.filter(({ expected }) => !expected.calls).entries()) {
  // The short form alternates between the two ways, because both read a file with the same code.
  for (const via of IS_SHORT ? [WAYS[place % 2]!] : WAYS) {
    Deno.test(`${name} is imported correctly, questioned or refused, as ${via}`, async () => {
      const bytes = await Deno.readFile(new URL(expected.file, at));
      const csv = decodeFile(bytes).text;
      const member = await newPerson(expected);
      const first = await (via === "csv" ? send(member, csv, expected) : upload(member, bytes, expected));
      const again = async (mapping: Mapping) => {
        const [answers, columns] = [true, false].map((isAnswer) =>
          Object.fromEntries(Object.entries(mapping).filter(([id]) => isConvention(id) === isAnswer))
        );
        const { import_id } = first.ok ? first.data.preview : first.error.details ?? {};
        if (!import_id) return await send(member, csv, expected, mapping);
        return (await member.call("import_expenses", { import_id, answers, mapping: columns })).envelope;
      };
      assertMatch(await outcomeOf(member, first, expected, again), /^(right|asked|refused)$/);
    });
  }
}

for (const { name, expected } of CASES.filter(({ expected }) => expected.calls)) {
  Deno.test(`${name} asks, or counts once`, async () => {
    const { ok } = await newPerson(expected);
    for (const [tool, args] of expected.calls!) {
      const { data } = await ok(tool, args);
      if (tool !== "import_expenses") continue;
      const { questions, totals } = data.preview;
      assertMatch(JSON.stringify(questions), /Diner/);
      assertEquals(totals, { EUR: "12.00" });
    }
  });
}
