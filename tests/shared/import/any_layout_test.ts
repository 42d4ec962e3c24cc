/**
 * Statements of invented banks: headers in any language of the word list or of no language, columns in any order,
 * beside columns of ids, times, codes and further days. Each is read with its correct total and days, or leads to a
 * question or a refusal.
 */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { COLUMN_WORDS } from "../../../shared/import/column_words.ts";
import { accountHints } from "../../../shared/import/formats/csv_hints.ts";
import { readImport } from "../../../shared/import/read_import.ts";
import { toUnits } from "../../../shared/import/units.ts";

const LATEST = "2026-12-31";
type Named = "date" | "amount" | "out" | "in" | "balance" | "name";
/** A word of the list, or of no language. */
const header = (role: Named) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...COLUMN_WORDS[role].flatMap((line) => line.split("|"))) },
    { weight: 1, arbitrary: fc.constantFrom("Zorv", "Qua xil", "Umpf", "K1", "", "Wex", "Blork no", "Drömel") },
  );

const DECOYS: Record<string, { headers: string[]; cell(row: number, seed: number): string }> = {
  reference: { headers: ["Ref No", "Reference", "Vörq", "Id"], cell: (row, seed) => String(100_000 + seed + row * 37) },
  time: { headers: ["Time", "Uhrzeit", "Klok"], cell: (row, seed) => `${10 + row % 12}:${10 + (seed + row) % 50}` },
  code: { headers: ["MCC", "Code", "Xog"], cell: (row, seed) => String(5_000 + (seed * 7 + row * 13) % 999) },
  row: { headers: ["No.", "#", "Nr", "Pos"], cell: (row) => String(row + 1) },
  card: { headers: ["Card", "Karte", "Mop"], cell: (_row, seed) => String(1000 + seed % 9000) },
  account: { headers: ["Konto X", "Gluf"], cell: (_row, seed) => String(40_000_000 + seed) },
  empty: { headers: ["Memo", "Hox"], cell: () => "" },
  rate: { headers: ["Rate", "Kurs", "Yip"], cell: (row, seed) => `1.${100 + (seed + row) % 900}` },
};

interface Layout {
  cents: number[];
  days: number[];
  headers: Record<Named, string>;
  how: "signed" | "charges" | "sides" | "unsigned";
  hasBalance: boolean;
  hasNextDay: string | null;
  isNewestFirst: boolean;
  decimal: "." | ",";
  order: "YMD" | "DMY" | "MDY" | "DOTS";
  decoys: { kind: string; header: number; seed: number }[];
  shuffle: number[];
}

const layout: fc.Arbitrary<Layout> = fc.record({
  cents: fc.array(fc.integer({ min: -400_000, max: 400_000 }).filter((cents) => cents !== 0), {
    minLength: 2,
    maxLength: 14,
  }),
  days: fc.array(fc.integer({ min: 0, max: 330 }), { minLength: 14, maxLength: 14 }),
  headers: fc.record({
    date: header("date"),
    amount: header("amount"),
    out: header("out"),
    in: header("in"),
    balance: header("balance"),
    name: header("name"),
  }),
  how: fc.constantFrom("signed", "charges", "sides", "unsigned"),
  hasBalance: fc.boolean(),
  hasNextDay: fc.option(header("date")),
  isNewestFirst: fc.boolean(),
  decimal: fc.constantFrom(".", ","),
  order: fc.constantFrom("YMD", "DMY", "MDY", "DOTS"),
  decoys: fc.array(
    fc.record({ kind: fc.constantFrom(...Object.keys(DECOYS)), header: fc.nat(), seed: fc.nat({ max: 9_999 }) }),
    { maxLength: 4 },
  ),
  shuffle: fc.array(fc.nat(), { minLength: 10, maxLength: 10 }),
});

const SHOPS = [
  "Corner Bakery",
  "Metro Tickets",
  "Blue Door Cafe",
  "Hardware & Sons",
  "Lakeside Pharmacy",
  "Old Mill Books",
];

function isoDays({ days, cents }: Layout): string[] {
  return days.slice(0, cents.length).toSorted((a, b) => a - b)
    .map((day) => new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10));
}

function write(made: Layout): string {
  const { cents, headers, how, decimal, order } = made;
  const money = (value: number) => {
    const digits = String(Math.abs(value)).padStart(3, "0");
    return `${value < 0 ? "-" : ""}${digits.slice(0, -2)}${decimal}${digits.slice(-2)}`;
  };
  const written = (iso: string) => {
    const [year, month, day] = iso.split("-");
    return {
      YMD: iso,
      DMY: `${day}/${month}/${year}`,
      MDY: `${month}/${day}/${year}`,
      DOTS: `${day}.${month}.${year}`,
    }[
      order
    ];
  };
  const days = isoDays(made);
  let balance = 1_000_000;
  const balances = cents.map((value) => balance += value);
  const columns: { header: string; cell(row: number): string }[] = [
    { header: headers.date, cell: (row) => written(days[row]!) },
    { header: headers.name, cell: (row) => `${SHOPS[row % SHOPS.length]} ${row}` },
    ...how === "sides"
      ? [
        { header: headers.out, cell: (row: number) => cents[row]! < 0 ? money(-cents[row]!) : "" },
        { header: headers.in, cell: (row: number) => cents[row]! > 0 ? money(cents[row]!) : "" },
      ]
      : [{
        header: headers.amount,
        cell: (row: number) =>
          money({ signed: cents[row]!, charges: -cents[row]!, unsigned: Math.abs(cents[row]!) }[how]),
      }],
    ...made.hasBalance ? [{ header: headers.balance, cell: (row: number) => money(balances[row]!) }] : [],
    ...made.hasNextDay === null ? [] : [{
      header: made.hasNextDay,
      cell: (row: number) => written(new Date(Date.parse(days[row]!) + 86_400_000).toISOString().slice(0, 10)),
    }],
    ...made.decoys.map(({ kind, header, seed }) => {
      const { headers, cell } = DECOYS[kind]!;
      return { header: headers[header % headers.length]!, cell: (row: number) => cell(row, seed) };
    }),
  ];
  const shuffled = columns.map((column, at) => ({ column, rank: made.shuffle[at % made.shuffle.length]! }))
    .toSorted((a, b) => a.rank - b.rank).map(({ column }) => column);
  const rows = cents.map((_, row) => shuffled.map(({ cell }) => cell(row)).join(";"));
  return [shuffled.map(({ header }) => header).join(";"), ...made.isNewestFirst ? rows.toReversed() : rows].join("\n");
}

/** Compares the result with the invented statement, and reports a wrong total or day with its details. */
function judge(made: Layout): "right" | "asked" | "refused" | { wrong: unknown } {
  const read = readImport(write(made), {}, LATEST);
  if ("code" in read) {
    return /^needs_answer|column_unclear$/.test(read.code) ? "asked" : "refused";
  }
  if (read.questions.length > 0) return "asked";
  // Nothing can be committed.
  if (read.rows.length === 0) return "refused";
  const sum = (cents: number[]) => cents.reduce((total, one) => total + one, 0);
  const out = -sum(made.cents.filter((cents) => cents < 0));
  const into = sum(made.cents.filter((cents) => cents > 0));
  // Unsigned amounts are expenses; credits may count as refunds.
  const right = made.how === "unsigned" ? [out + into] : [out, out - into];
  // A card that writes charges without a sign has no IBAN, counterparty or booking day.
  const isAccount = accountHints(write(made).split("\n", 1)[0]!.split(";"), [], {
    hasBalance: made.hasBalance && made.cents.length > 2,
    // Its minus is a credit.
    isMostlyOut: into > 0 && made.cents.filter((cents) => cents > 0).length * 2 >= made.cents.length,
  })
    .isAccount;
  // A single unexplained sign belongs to a list of expenses.
  if ((made.how === "charges" && isAccount) || out === 0) right.push(into, into - out);
  const total = Number(
    read.rows.reduce((units, row) => units + toUnits(row.amount) * (row.is_refund ? -1n : 1n), 0n) / 100n,
  );
  const days = isoDays(made);
  const next = days.map((day) => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10));
  const allowed = new Set([...days, ...made.hasNextDay === null ? [] : next]);
  const strange = read.rows.map(({ date }) => date).filter((date) => !allowed.has(date));
  return right.includes(total) && strange.length === 0
    ? "right"
    : { wrong: { total, right, strange, mapping: read.mapping, left: read.left_out, bad: read.rows_bad } };
}

Deno.test("statements of 500 invented layouts are read correctly, questioned or refused", () => {
  fc.assert(
    fc.property(layout, (made) => {
      const outcome = judge(made);
      assertEquals(typeof outcome === "string" ? [] : [outcome, write(made)], []);
    }),
    { numRuns: Number(Deno.env.get("LAYOUTS") ?? 500) },
  );
});
