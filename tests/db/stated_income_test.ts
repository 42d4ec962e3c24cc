/** Income of two people on statements and stated by a person: each is expected once. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Books, Json } from "../_support/books.ts";
import { importOfFile } from "../_support/import_args.ts";

const BEN = ["01-30", "02-27", "03-31", "04-30", "05-29", "06-30", "07-31", "09-30", "10-30"];
const ANNA = ["05-28", "06-26", "07-28", "08-28", "09-28", "10-28", "11-27"];

async function commit(books: Books, account: string, rows: string[]): Promise<Json> {
  const file = `Date,Payee,Name,Amount\n${rows.join("\n")}\n`;
  const given = {
    account,
    mapping: { date: "Date", payee: "Payee", name: "Name", amount: "Amount", negative_is_expense: true },
  };
  const { preview } = await books.ok("import_expenses", importOfFile(file, given));
  return await books.call("import_expenses", preview.commit_with);
}
const ben = (day: string) => `2026-${day},Kraft Logistik GmbH,Gehalt Ben Weber ${day.slice(0, 2)}/2026,2180.00`;
const anna = (day: string) =>
  `2026-${day},Klinikum Nordstadt gGmbH,Lohn/Gehalt Anna Weber ${day.slice(0, 2)}/2026,2450.00`;
const balance = (books: Books) =>
  books.ok("log_expenses", {
    items: ["Joint", "Own"].map((name) => ({ name, amount: "1000", kind: "balance", date: "2026-11-29" })),
  });

/** Ben is paid into the joint account at the end of each month, except in August; Anna into her own on the 28th. */
async function family(books: Books, { days = BEN } = {}): Promise<void> {
  await commit(books, "Joint", ["2026-01-02,Hausmann KG,Miete,-1450.00", ...days.map(ben)]);
  await commit(books, "Own", ["2026-05-03,FitWorld,Mitgliedsbeitrag,-34.90", ...ANNA.map(anna)]);
  await balance(books);
}
/** The expected income of an account, or of all: its day and amount. */
async function expected(books: Books, until: string, account?: string): Promise<string[]> {
  const { days } = await books.ok("forecast", { until, ...(account ? { account } : {}) });
  return days.flatMap(({ on, changes = [] }: Json) =>
    changes.flatMap((text: string) => {
      const amount = / (\d+\.\d\d) EUR$/.exec(text)?.[1];
      return amount ? [`${on} ${amount}`] : [];
    })
  );
}

testBooks("income of statements", { day: "2026-11-30" }, {
  "is expected although one month was missed": async (books) => {
    await family(books);
    assertEquals(await expected(books, "2026-12-31", "Joint"), ["2026-11-30 2180.00", "2026-12-30 2180.00"]);
    assertEquals(await expected(books, "2026-12-31", "Own"), ["2026-12-28 2450.00"]);
  },
  "is expected after the latest month was missed": async (books) => {
    await family(books, { days: [...BEN.slice(0, -2), "08-31", "09-30", "11-30"] });
    await books.ok("log_expenses", { items: [{ name: "Joint", amount: "1000", kind: "balance" }] });
    assertEquals(await expected(books, "2026-12-31", "Joint"), ["2026-12-30 2180.00"]);
  },
  "that stopped is named with its amount and last day": async (books) => {
    await family(books, { days: BEN.slice(0, -1) });
    const { left_out } = await books.ok("forecast", { until: "2026-12-31" });
    assertStringIncludes(
      left_out.join("\n"),
      '"Gehalt Ben Weber 09/2026", 2180.00 EUR, came regularly until 2026-09-30 and',
    );
  },
});
