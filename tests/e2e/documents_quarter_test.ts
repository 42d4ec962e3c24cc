/**
 * Runs a quarter with forty documents for fifteen bills and twenty-five purchases, and three statements. Every amount
 * agrees with the ledger, no document is recorded twice, and the service asks at most three questions.
 */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { importExpenses } from "../../functions/mcp/tools/import_expenses/contract.ts";
import { readDocument } from "../../shared/documents/read_document.ts";
import { daysAfter } from "../../shared/iso_day.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";
import { type Bill, BILLS, eur, fileOf, type Purchase, PURCHASES, type Said } from "./documents_quarter/ledger.ts";

const MOST_ASKED = 3;
const START = "2026-07-01";
const dayOf = (month: number, day: number) => `2026-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;

interface Sent {
  name: string;
  said: Said;
  document: Json;
}

class Quarter {
  asked: string[] = [];
  sent: Sent[] = [];
  constructor(readonly books: Books, readonly database: TestDatabase) {}

  /** Adds a file as the upload page and the mailbox do. @returns the reported document. */
  async hand(file: ReturnType<typeof fileOf>): Promise<Json> {
    const read = await readDocument(file.bytes, file);
    assertEquals(read.map(({ refusal }) => refusal), [undefined], file.name);
    const [{ name, type, bytes, facts }] = read as [typeof read[number]];
    const content = Buffer.from(bytes).toString("base64");
    const { document } = await this.books.ok("attach_document", { step: "keep", content, name, type, facts });
    return (await this.books.ok("attach_document", { document_id: document.id })).document;
  }

  /** The person's answers, and the assistant's proposals for new records. */
  async settle(name: string, said: Said, file: ReturnType<typeof fileOf>): Promise<void> {
    let document = await this.hand(file);
    assertEquals([document.read.payee, document.read.gross], [said.payee, eur(said.cents)], file.name);
    if (document.state === "question") {
      this.asked.push(`${name}: ${JSON.stringify(document.candidates)}`);
      const right = document.candidates.find((one: Json) => one.name === name);
      const to = right ? { to: right.id, ...(right.due_on && { due_on: right.due_on }) } : { to: "none" };
      ({ document } = await this.books.ok("attach_document", { document_id: document.id, ...to }));
    }
    if (document.state === "new") {
      const { tool, arguments: proposed } = document.proposal;
      await this.books.ok(tool, proposed);
      ({ document } = await this.books.ok("attach_document", { document_id: document.id }));
    }
    assertEquals(document.state, "filed", `${name}: ${JSON.stringify(document)}`);
    this.sent.push({ name, said, document });
    // The same file a second time is the same document.
    assertEquals((await this.hand(file)).id, document.id);
  }

  async importMonth(rows: string[]): Promise<void> {
    const parsed = importExpenses.parse({
      csv: ["Date,Description,Amount", ...rows].join("\n"),
      account: "Giro",
      mapping: { negative_is_expense: true },
    });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
    let { preview } = await this.books.ok("import_expenses", parsed.value);
    const likely = await this.database.query<{ line: number; match: Json }>(
      "select line, match from app.import_rows where import_id = $1 and match ->> 'state' = 'likely' order by line",
      [preview.import_id],
    );
    if (likely.length > 0) {
      this.asked.push(...likely.map(({ line, match }) => `${rows[line - 2]}: ${JSON.stringify(match)}`));
      const answers = Object.fromEntries(likely.map(({ line }) => [`row_${line}`, "same"]));
      ({ preview } = await this.books.ok("import_expenses", { import_id: preview.import_id, answers }));
    }
    await this.books.ok("import_expenses", preview.commit_with);
  }
}

interface Event {
  day: string;
  /** Statements come before the documents of their day. */
  order: number;
  run(quarter: Quarter): Promise<void>;
}

const bankedBills = (month: number) =>
  BILLS.filter(({ months }) => months.includes(month)).map((bill) => ({
    day: dayOf(month, bill.day),
    bank: bill.bank,
    cents: bill.cents[bill.months.indexOf(month)]!,
  }));
const bankedOn = ({ day, due }: Purchase) => due ? daysAfter(due, -2) : daysAfter(day, 1);
const banked = (month: number) =>
  [
    ...bankedBills(month),
    ...PURCHASES.map((one) => ({ day: bankedOn(one), bank: one.bank, cents: one.cents }))
      .filter(({ day }) => day.startsWith(dayOf(month, 1).slice(0, 7))),
  ].toSorted((one, other) => one.day < other.day ? -1 : 1);

function ofBill(bill: Bill, nth: number): Event {
  const due = dayOf(bill.invoiced, bill.day);
  const issued = daysAfter(due, -12);
  const cents = bill.cents[bill.months.indexOf(bill.invoiced)]!;
  const said = { payee: bill.payee, number: `R-${1000 + nth}`, issued, due, cents };
  const arrives = bill.isLate ? dayOf(bill.invoiced + 1, 5) : daysAfter(issued, 2);
  const day = arrives < START ? START : arrives;
  return { day, order: 2, run: (quarter) => quarter.settle(bill.name, said, fileOf(said, bill.form, nth)) };
}

function ofPurchase({ name, payee, day, cents, form, first, due }: Purchase, nth: number): Event[] {
  const said = { payee, number: `P-${2000 + nth}`, issued: day, cents, ...(due && { due }) };
  const nextMonth = dayOf(Number(day.slice(5, 7)) + 1, 5);
  const file = fileOf(said, form, nth);
  const arrives = first === "statement" ? nextMonth : first === "said" ? daysAfter(day, 2) : day;
  return [
    {
      day: arrives,
      order: 2,
      run: (quarter) => quarter.settle(first === "said" ? name : payee, said, file),
    },
    ...(first === "said"
      ? [{
        day,
        order: 0,
        run: async ({ books }: Quarter) =>
          void await books.ok("log_expenses", {
            items: [{ name, payee: payee.replace(/ GmbH$/, ""), amount: eur(cents), date: day }],
          }),
      }]
      : []),
  ];
}

const statement = (month: number): Event => ({
  day: dayOf(month + 1, 2),
  order: 1,
  run: (quarter) => quarter.importMonth(banked(month).map(({ day, bank, cents }) => `${day},${bank},-${eur(cents)}`)),
});

Deno.test("a quarter's documents, bills, purchases and statements agree to the cent with at most three questions", async () => {
  await using database = await openDatabase();
  const books = await openBooks(database, { day: START });
  for (const { name, payee, mode, months, day, cents } of BILLS) {
    await books.ok("add_bill", {
      name,
      payee,
      amount_mode: mode,
      ...(mode !== "variable" && { amount: eur(mode === "fixed" ? cents[0]! : Math.round(cents[0]! * 0.9)) }),
      frequency: months.length === 3 ? "monthly" : "yearly",
      first_due: dayOf(months[0]!, day),
    });
  }
  const quarter = new Quarter(books, database);
  const events = [...BILLS.map(ofBill), ...PURCHASES.flatMap(ofPurchase), ...[7, 8, 9].map(statement)]
    .toSorted((one, other) => one.day === other.day ? one.order - other.order : one.day < other.day ? -1 : 1);
  for (const { day, run } of events) {
    books.goTo(day);
    await run(quarter);
  }

  assertEquals(quarter.sent.length, 40);
  assert(quarter.asked.length <= MOST_ASKED, quarter.asked.join("\n"));
  const rows = [7, 8, 9].flatMap(banked);
  const agreed = await books.ok("reconcile", { account: "Giro", from: START, to: "2026-09-30" });
  assertEquals([agreed.bank_only, agreed.books_only], [[], []]);
  const total = eur(rows.reduce((sum, { cents }) => sum + cents, 0));
  assertEquals(agreed.totals, { bank: { EUR: total }, books: { EUR: total }, difference: { EUR: "0.00" } });

  // Each bank line has one payment of its amount, and all forty documents are stored.
  const page = { from: START, to: "2026-09-30", limit: 100 };
  const { data: { rows: paid }, total_count } = await books.call("list_expenses", page);
  assertEquals(total_count, rows.length);
  assertEquals(
    paid.map(({ amount }: Json) => amount).toSorted(),
    rows.map(({ cents }) => eur(cents)).toSorted(),
  );
  const documented = await books.call("list_expenses", { ...page, has_document: true });
  assertEquals(documented.total_count, 40);
  assertEquals(
    documented.data.rows.map(({ amount }: Json) => amount).toSorted(),
    quarter.sent.map(({ said: { cents } }) => eur(cents)).toSorted(),
  );
  assertEquals(agreed.without_document_count, rows.length - 40);
  assertEquals((await books.ok("list_documents", { is_filed: false })).count, 0);
  // A purchase that paid a due date leaves it closed.
  const { bills } = await books.ok("list_bills", { status: "all", limit: 50 });
  const open = bills.flatMap(({ overdue }: Json) => overdue.map(({ due_on }: Json) => due_on));
  assertEquals(open.filter((day: string) => day < "2026-10-01"), []);
});
