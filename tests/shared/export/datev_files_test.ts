/** Compares the DATEV batch with a file written by hand, and checks the lists of omitted and doubtful payments. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { COLUMNS, quoted } from "../../../shared/export/datev_format.ts";
import { type DatevExport, datevFiles } from "../../../shared/export/datev_files.ts";
import type { DatevSettings } from "../../../shared/export/datev_settings.ts";
import { LANGUAGES } from "../../../shared/words/page_words.ts";
import { collectGarbage } from "../../_support/collect_garbage.ts";
import { readCsv } from "../../_support/unzip.ts";

const SETTINGS: DatevSettings = {
  consultant: 29098,
  client: 55003,
  chart: "03",
  year_starts: 1,
  paid_from: "1200",
  locks: true,
  tax_keys: { 19: "9", 7: "8" },
  accounts: { cat_office: "4930", cat_books: "4940", cat_cloud: "4960" },
};

const payment = (id: string, date: string, amount: string, more: Record<string, unknown> = {}) => ({
  ...{ id: `pay_${id}`, expense_id: `exp_${id}1`, date, name: id, payee: null, category: "Office" },
  ...{ category_id: "cat_office", amount, currency: "EUR", base_amount: amount, base_currency: "EUR", tax: null },
  ...{ tax_percent: null, document_ids: [], ...more },
});
const books = { category: "Books", category_id: "cat_books" };
const cloud = { category: "Cloud", category_id: "cat_cloud" };

async function filesOf(rows: Record<string, unknown>[], more: Partial<DatevExport> & { mostBookings?: number } = {}) {
  const files = new Map<string, Uint8Array>();
  const members = datevFiles(
    async function* () {
      yield* rows;
    },
    {
      settings: SETTINGS,
      closed: "2026-10-31",
      currency: "EUR",
      period: { from: "2026-10-05", to: "2026-10-31" },
      made: new Date("2026-11-20T10:30:00.123Z"),
      words: LANGUAGES.en.pages.datevFiles,
      uncategorized: "Uncategorized",
      fileOf: ({ document_ids: [id] = [] }: { document_ids?: string[] }) => id && `documents/2026-10-05-${id}-r.pdf`,
      ...more,
    },
  );
  for await (const { name, parts } of members) {
    const chunks: number[] = [];
    for await (const part of parts) chunks.push(...(typeof part === "string" ? new TextEncoder().encode(part) : part));
    files.set(name, Uint8Array.from(chunks));
  }
  return files;
}

const OCTOBER = "datev/EXTF_Buchungsstapel_2026-10.csv";
const linesOf = (file: Uint8Array | undefined) =>
  new TextDecoder("windows-1252").decode(file).split("\r\n").slice(2, -1).map((line) => line.split(";"));
const textOf = (file: Uint8Array | undefined) => new TextDecoder().decode(file);

Deno.test("a month's file equals the hand-written batch, byte for byte", async () => {
  const files = await filesOf([
    payment("printer", "2026-10-05", "119.00", {
      payee: 'Müller & Söhne "Büro"',
      name: "Drucker – 5 €\u0007",
      tax: "19.00",
      tax_percent: "19",
      document_ids: ["doc_1"],
    }),
    payment("refund", "2026-10-06", "-11.90", { payee: "Müller", name: "Rückgabe", tax: "-1.90" }),
    payment("book", "2026-10-07", "107.00", {
      ...books,
      expense_id: null,
      id: "pay_book1",
      name: "Buchladen",
      tax: "7.00",
    }),
    payment("cloud", "2026-10-08", "100.00", {
      ...{ ...cloud, payee: "Cloud Inc.", name: "Hosting" },
      ...{ currency: "USD", base_amount: "92.51" },
    }),
    payment("half", "2026-10-09", "60.00", { payee: "Markt", name: "Papier" }),
    payment("half", "2026-10-09", "40.00", { ...books, expense_id: "exp_half2", payee: "Markt", name: "Buch" }),
    payment("evil", "2026-10-10", "7.00", { ...cloud, name: '=HYPERLINK("http://x");1200;\r\n"S"' }),
    payment("names", "2026-10-11", "5", { payee: "مصاريف Dvořák", name: "A".repeat(100) }),
    payment("gift", "2026-10-31", "1234567890.00", { category: null, category_id: null, name: "Geschenk" }),
  ], { settings: { ...SETTINGS, clearing: "1590" } });
  const expected = await Deno.readFile(
    new URL("../../fixtures/datev/EXTF_Buchungsstapel_2026-10.csv", import.meta.url),
  );
  assertEquals(
    new TextDecoder("windows-1252").decode(files.get(OCTOBER)),
    new TextDecoder("windows-1252").decode(expected),
  );
  assertEquals(files.get(OCTOBER), new Uint8Array(expected));
  assertEquals([...files.keys()], [OCTOBER, "datev/remarks.csv", "datev/README.txt"]);
  assertStringIncludes(textOf(files.get("datev/README.txt")), "Their payments are on account 1590.");
});

Deno.test("a payment without an account is omitted, named and counted, never booked elsewhere", async () => {
  const files = await filesOf([
    payment("office", "2026-10-05", "1.00"),
    payment("trip", "2026-10-06", "2.00", { category: "Travel", category_id: "cat_travel" }),
    payment("train", "2026-10-07", "3.00", { category: "Travel", category_id: "cat_travel" }),
    payment("kiosk", "2026-10-08", "4.00", { category: null, category_id: null }),
    // Names of an object's own properties aren't accounts.
    payment("proto", "2026-10-09", "5.00", { category: "Odd", category_id: "toString" }),
  ]);
  assertEquals(linesOf(files.get(OCTOBER)).map((cells) => cells[0]), ["1,00"]);
  const [header, ...rows] = readCsv(textOf(files.get("datev/remarks.csv")));
  assertEquals(header!.at(-1), "remark");
  assertEquals(rows.map((row) => [row[3], row[4], row[7]]), [
    ["Travel", "2.00", "exp_trip1"],
    ["Travel", "3.00", "exp_train1"],
    ["Uncategorized", "4.00", "exp_kiosk1"],
    ["Odd", "5.00", "exp_proto1"],
  ]);
  const about = textOf(files.get("datev/README.txt"));
  assertStringIncludes(about, "1 booking for DATEV, against account 1200.");
  assertStringIncludes(about, "Left out: its category has no account: 4 payments.");
  assertStringIncludes(about, "Travel (2), Uncategorized (1), Odd (1). Their payments are not in the batch.");
});

Deno.test("a tax key is written only if DATEV computes the same tax", async () => {
  const taxed = (id: string, amount: string, tax: string, more = {}) =>
    payment(id, "2026-10-05", amount, { tax, ...more });
  const files = await filesOf([
    taxed("nineteen", "59.99", "9.58"),
    taxed("seven", "-10.70", "-0.70"),
    // One cent away from the tax that DATEV computes.
    taxed("cent", "59.99", "9.57"),
    taxed("mixed", "100.00", "12.00"),
    taxed("swiss", "108.10", "8.10", { tax_percent: "8.1" }),
    taxed("claimed", "119.00", "19.00", { tax_percent: "7" }),
    // Both rates are within a cent.
    taxed("tiny", "0.10", "0.01"),
    taxed("dollars", "119.00", "19.00", { currency: "USD", base_amount: "110.00" }),
    taxed("free", "5.00", "0.00"),
  ]);
  assertEquals(linesOf(files.get(OCTOBER)).map((cells) => cells[8]), ['"0009"', '"0008"', "", "", "", "", "", "", ""]);
  const names = readCsv(textOf(files.get("datev/remarks.csv"))).slice(1).map((row) => row[2]);
  assertEquals(names, ["cent", "mixed", "swiss", "claimed", "tiny", "dollars"]);
  const without = await filesOf([taxed("mixed", "100.00", "12.00")], { settings: { ...SETTINGS, tax_keys: {} } });
  assertEquals(without.has("datev/remarks.csv"), false, "accounts with automatic tax need no keys");
});

Deno.test("quoted() puts an apostrophe before every text that would start like a formula in the file", () => {
  for (const sign of ["=", "⁼", "₌", "＝", "﹦", "+", "⁺", "＋", "-", "－", "﹣", "@", "＠", "﹫"]) {
    for (const before of ["", " ", "\u2003", "\u00a0", "\u0308"]) {
      const text = quoted(`${before}${sign}1+1`);
      assert(!/^"\s*[=+@-]/.test(text), `${before}${sign} becomes ${text}`);
    }
  }
  assertEquals([quoted("⁼1+1"), quoted("Rent")], ['"\'=1+1"', '"Rent"']);
});

Deno.test("a payment without a value, of zero, or too large for the field is omitted", async () => {
  const files = await filesOf([
    payment("pending", "2026-10-05", "5.00", { base_amount: null }),
    payment("nothing", "2026-10-05", "0.00"),
    payment("large", "2026-10-05", "12345678901.00"),
    payment("dinar", "2026-10-05", "1.234"),
  ]);
  assertEquals([...files.keys()], ["datev/remarks.csv", "datev/README.txt"]);
  assertEquals(readCsv(textOf(files.get("datev/remarks.csv"))).slice(1).map((row) => row[8]), [
    "Left out: it has no value in the main currency yet",
    ...Array(3).fill("Left out: DATEV takes no such amount"),
  ]);
});

Deno.test("each month is a batch of its financial year, locked only if it is closed and locking is on", async () => {
  const rows = ["2025-12-31", "2026-02-28", "2026-10-01", "2026-11-02"].map((day) => payment("rent", day, "1.00"));
  const headers = async (settings: DatevSettings) =>
    [...await filesOf(rows, { settings, period: { from: "2025-12-31", to: "2026-11-02" } })]
      .filter(([name]) => name.endsWith(".csv"))
      .map(([name, file]) => {
        const cells = new TextDecoder("windows-1252").decode(file).split("\r\n")[0]!.split(";");
        assertEquals([cells.length, linesOf(file)[0]![113]], [31, cells[20]]);
        return [name.slice(-11, -4), cells[12], cells[14], cells[15], cells[20]];
      });
  assertEquals(await headers({ ...SETTINGS, year_starts: 10 }), [
    ["2025-12", "20251001", "20251231", "20251231", "1"],
    ["2026-02", "20251001", "20260201", "20260228", "1"],
    ["2026-10", "20261001", "20261001", "20261031", "1"],
    ["2026-11", "20261001", "20261101", "20261102", "0"],
  ]);
  assertEquals((await headers({ ...SETTINGS, locks: false })).map((row) => row[4]), ["0", "0", "0", "0"]);
});

Deno.test("a month with more bookings than DATEV reads from one file is split into several files", async () => {
  const rows = [1, 2, 3, 4, 5].map((day) => payment(`p${day}`, `2026-10-0${day}`, `${day}.00`));
  const files = await filesOf(rows, { mostBookings: 2 });
  const parts = [...files].filter(([name]) => name.includes("EXTF"));
  assertEquals(parts.map(([name]) => name), [
    OCTOBER,
    "datev/EXTF_Buchungsstapel_2026-10_2.csv",
    "datev/EXTF_Buchungsstapel_2026-10_3.csv",
  ]);
  assertEquals(parts.flatMap(([, file]) => linesOf(file).map((cells) => cells[0])), [
    "1,00",
    "2,00",
    "3,00",
    "4,00",
    "5,00",
  ]);
});

Deno.test("the batch has the 125 columns of format version 13", () => {
  assertEquals(COLUMNS.length, 125);
  assertEquals([COLUMNS[6], COLUMNS[13], COLUMNS[47], COLUMNS[113]], [
    "Konto",
    "Buchungstext",
    "Zusatzinformation - Art 1",
    "Festschreibung",
  ]);
});

Deno.test("remarks on 50,000 payments stream through flat memory", { ignore: !collectGarbage }, async () => {
  const count = 50_000;
  const members = datevFiles(
    async function* () {
      for (let n = 0; n < count; n++) {
        yield payment(`${n}`, "2026-10-06", "1.50", { category_id: null, note: `${Math.random()} `.repeat(25) });
      }
    },
    {
      ...{ settings: SETTINGS, closed: null, currency: "EUR", period: { from: "2026-10-01", to: "2026-10-31" } },
      ...{ made: new Date("2026-11-20T10:30:00Z"), words: LANGUAGES.en.pages.datevFiles },
      ...{ uncategorized: "Uncategorized", fileOf: () => undefined },
    },
  );
  const heapUsed = () => (collectGarbage!(), Deno.memoryUsage().heapUsed / 2 ** 20);
  const before = heapUsed();
  let [lines, most] = [0, 0];
  for await (const { name, parts } of members) {
    for await (const part of parts) {
      if (name === "datev/remarks.csv") lines += String(part).split("\r\n").length - 1;
      most = Math.max(most, heapUsed() - before);
    }
  }
  assertEquals(lines, count + 1);
  // The notes alone take 22 MB.
  assert(most < 10, `${Math.round(most)} MiB`);
});
