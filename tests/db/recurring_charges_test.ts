/** review_bills reports recurring charges without a bill, and bills whose charges stopped. */
import { assertEquals, assertMatch } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Books, Json } from "../_support/books.ts";
import { importExpenses } from "../../functions/mcp/tools/import_expenses/contract.ts";
import { importOfFile } from "../_support/import_args.ts";
import { rollAll } from "../_support/roll_bills.ts";

const TODAY = "2026-11-20";
type Charge = [day: string, amount: string];

const log = (books: Books, name: string, charges: Charge[], more: Json = {}) =>
  books.ok("log_expenses", {
    items: charges.map(([date, amount]) => ({ name, date, amount, ...more })),
    on_duplicate: "allow",
  });
const recurring = async (books: Books): Promise<Json[]> => (await books.ok("review_bills")).recurring_charges;
const namesOf = async (books: Books): Promise<string[]> => (await recurring(books)).map(({ name }) => name).sort();

testBooks("recurring charges", { day: TODAY }, {
  "three monthly charges of one amount are proposed with their proof": async (books) => {
    await log(books, "NETFLIX.COM", [["2026-09-03", "12.99"], ["2026-10-05", "12.99"]]);
    assertEquals(await recurring(books), []);
    await log(books, "Netflix", [["2026-11-03", "12.99"]]);
    const [{ ids, category: _, ...found }, ...more] = await recurring(books);
    assertEquals(more, []);
    assertEquals(ids.length, 3);
    assertEquals(found, {
      name: "Netflix",
      amount: "12.99",
      currency: "EUR",
      frequency: "monthly",
      every: 1,
      charges: 3,
      first_on: "2026-09-03",
      last_on: "2026-11-03",
      next_on: "2026-12-03",
      text:
        "Netflix charged 12.99 EUR every month (3 times from 2026-09-03 to 2026-11-03), and no bill covers it. The next charge is likely around 2026-12-03. If it is a bill, add it with add_bill; if not, update_settings with payee_rules and no_bill stops this question.",
    });
    await books.ok("add_bill", { name: "Netflix", amount: "12.99", first_due: "2026-12-03" });
    assertEquals(await recurring(books), [], "a bill covers it");
  },
  "compute the words of each payee once": async (books, database) => {
    const payees = Array.from({ length: 40 }, (_, n) => `Shop ${String.fromCharCode(97 + n / 6, 97 + n % 6)}`);
    for (const payee of payees) await log(books, payee, [["2026-11-03", "12.99"]]);
    const claims = { sub: books.userId, organization_id: books.organizationId };
    const calls = await database.asRole("authenticated", claims, async (session) => {
      await session.exec("reset role; set local track_functions = 'pl'; set local role authenticated");
      await session.query("select app.find_recurring_charges(app.read_context($1), '-infinity')", [
        `${TODAY}T10:00:00Z`,
      ]);
      const [row] = await session.query<{ calls: number }>(
        "select calls::int as calls from pg_stat_xact_user_functions where funcname = 'descriptor_words'",
      );
      return row!.calls;
    });
    assertEquals(calls, payees.length);
  },
  "a charge whose text names only its purpose gets its payee's name too": async (books) => {
    const charges: Charge[] = [["2026-09-10", "13.99"], ["2026-10-10", "13.99"], ["2026-11-10", "13.99"]];
    await log(books, "Abo", charges, { payee: "Netflix International" });
    const [{ name, payee }] = await recurring(books);
    assertEquals([name, payee], ["Netflix International (Abo)", "Netflix International"]);
  },
  "a yearly charge is found after two, a weekly one after four, and an ended one never": async (books) => {
    await log(books, "Car insurance", [["2025-11-01", "420"], ["2026-11-02", "437"]]);
    await log(books, "Cleaner", [["2026-11-05", "40"], ["2026-11-12", "40"], ["2026-11-19", "40"]]);
    await log(books, "Old magazine", [["2026-05-02", "8"], ["2026-06-02", "8"], ["2026-07-02", "8"]]);
    assertEquals(await namesOf(books), ["Car insurance"]);
    await log(books, "Cleaner", [["2026-10-29", "40"]]);
    assertEquals(await namesOf(books), ["Car insurance", "Cleaner"]);
    const [insurance] = (await recurring(books)).filter(({ name }) => name === "Car insurance");
    assertEquals([insurance.lowest, insurance.highest, insurance.next_on], ["420.00", "437.00", "2027-11-02"]);
  },
  "differing amounts are proposed only for a payee without other charges": async (books) => {
    await log(books, "City power", [["2026-09-15", "61.20"], ["2026-10-15", "74"], ["2026-11-16", "80.10"]]);
    await log(books, "Grocer", [["2026-09-15", "61.20"], ["2026-10-15", "74"], ["2026-11-16", "80.10"]]);
    await log(books, "Grocer", [["2026-10-21", "12"]]);
    await log(books, "Shop club", [["2026-09-15", "8.99"], ["2026-10-15", "8.99"], ["2026-11-16", "8.99"]]);
    await log(books, "Shop club", [["2026-10-21", "31.50"]]);
    assertEquals(await namesOf(books), ["City power", "Shop club"]);
    const power = (await recurring(books)).find(({ name }) => name === "City power");
    assertEquals([power!.lowest, power!.highest, power!.amount], ["61.20", "80.10", "80.10"]);
    assertMatch(power!.text, /^City power charged between 61\.20 EUR and 80\.10 EUR, last 80\.10 EUR, every month/);
  },
  "cash withdrawals are not proposed, but their fees are": async (books) => {
    const days = ["2026-09-08", "2026-10-08", "2026-11-09"];
    await log(books, "GELDAUTOMAT ALTSTADT", days.map((day) => [day, "150"]));
    await log(books, "Geldautomat Entgelt", days.map((day) => [day, "4.90"]));
    assertEquals(await namesOf(books), ["Geldautomat Entgelt"]);
  },
  "cash is not proposed in any language of the statements, nor under the name of its bank": async (books) => {
    const days = ["2026-09-08", "2026-10-08", "2026-11-09"];
    const cash = [
      ...["ATM", "Cash withdrawal", "CASH", "Withdrawal", "CASH WITHDRAWALS", "LNK CASH MACHINE"],
      ...["Geldausgabeautomat", "GA NR00012345 KARTE 3", "GAA NR. 17", "Bargeldbehebung", "Auszahlung am Automaten"],
      ...["Bancomatbezug", "Barabhebung", "Retrait par carte", "Retiro de efectivo", "Prelievo contanti", "Saque"],
      ...["Wypłata bankomat", "Kasopname", "GEA, Betaalpas", "Kontanthævning", "Výběr z bankomatu", "Nakit çekim"],
    ];
    for (const [index, name] of cash.entries()) {
      await log(books, name, days.map((day) => [day, `${100 + index}`]));
    }
    await log(books, "Bargeldauszahlung", days.map((day) => [day, "200"]), { payee: "Sparkasse Altstadt" });
    await log(books, "Kontoführung", days.map((day) => [day, "6.90"]), { payee: "Sparkasse Altstadt" });
    await log(books, "GAA club", days.map((day) => [day, "12"]));
    await log(books, "Cash & Carry card", days.map((day) => [day, "5"]));
    assertEquals(await namesOf(books), ["Cash & Carry card", "GAA club", "Sparkasse Altstadt (Kontoführung)"]);
  },
  "an active bill with the amount and rhythm under another name covers the charge": async (books) => {
    await log(books, "Mueller Estates", [["2026-09-01", "950"], ["2026-10-01", "950"], ["2026-11-02", "950"]]);
    assertEquals(await namesOf(books), ["Mueller Estates"]);
    const { bill } = await books.ok("add_bill", { name: "Rent", amount: "950", first_due: "2026-12-01" });
    assertEquals(await namesOf(books), []);
    await books.ok("update_bill", { bill_id: bill.id, set: { status: "cancelled" } });
    assertEquals(await namesOf(books), ["Mueller Estates"], "the bill has ended");
  },
  "a bill in another currency covers the charge, and the next date follows the month's end": async (books) => {
    await log(books, "Hosting", [["2026-09-09", "75"], ["2026-10-09", "75"], ["2026-11-09", "75"]]);
    await books.ok("add_bill", { name: "Hosting", amount: "12000", currency: "JPY", first_due: "2026-12-09" });
    await log(books, "Garage", [["2026-07-31", "80"], ["2026-08-31", "80"], ["2026-09-30", "80"], [
      "2026-11-02",
      "80",
    ]]);
    await log(books, "Late", [["2026-08-05", "9"], ["2026-09-07", "9"], ["2026-10-10", "9"]]);
    assertEquals((await recurring(books)).map(({ name, next_on }) => [name, next_on]), [
      ["Garage", "2026-11-30"],
      ["Late", undefined],
    ]);
  },
  "another subscription of a billed payee is proposed": async (books) => {
    await books.ok("add_bill", { name: "Apple", amount: "19.95", first_due: "2026-12-01" });
    await log(books, "Apple", [["2026-09-09", "2.99"], ["2026-10-09", "2.99"], ["2026-11-09", "2.99"]]);
    assertEquals((await recurring(books)).map(({ amount }) => amount), ["2.99"]);
  },
  "no_bill is remembered, listed, undone and removed": async (books) => {
    await log(books, "Market hall", [["2026-09-03", "20"], ["2026-10-03", "20"], ["2026-11-03", "20"]]);
    const no = { payee: "Market hall", no_bill: true };
    const { change_id, data } = await books.call("update_settings", { payee_rules: [no] });
    assertEquals(data.payee_rules, [no]);
    await books.ok("update_settings", { payee_rules: [no] });
    assertEquals(await recurring(books), []);
    await books.ok("update_settings", { payee_rules: [{ payee: "Market hall", category: "Groceries" }] });
    assertEquals(await recurring(books), [], "a category keeps the no");
    await books.ok("undo_change", { change_id });
    assertEquals(await namesOf(books), ["Market hall"]);
    await books.ok("update_settings", { payee_rules: [no] });
    await books.ok("update_settings", { payee_rules: [{ payee: "Market hall" }] });
    assertEquals(await namesOf(books), ["Market hall"], "removed rules are gone");
  },
  "a trial's first charge counts as one of the three": async (books) => {
    await log(books, "Cinema club", [["2026-09-03", "0.99"], ["2026-10-03", "14.99"], ["2026-11-03", "15.20"]]);
    await log(books, "Bookshop", [["2026-09-05", "0.99"], ["2026-10-05", "14.99"], ["2026-11-05", "25.20"]]);
    await log(books, "Kiosk", [["2026-09-06", "14.99"], ["2026-10-06", "0.99"], ["2026-11-06", "14.99"]]);
    const [found, ...more] = await recurring(books);
    assertEquals([found!.name, found!.lowest, found!.highest, found!.charges, more], [
      ...["Cinema club", "0.99", "15.20", 3],
      [],
    ]);
  },
  "no_bill holds for members with limited access, unless they may not see the payee's records": async (books) => {
    const member = await books.join();
    const days = ["2026-09-03", "2026-10-03", "2026-11-03"];
    for (const name of ["Market hall", "Casino"]) await log(member, name, days.map((day) => [day, "20"]));
    await books.ok("update_settings", { category: { action: "create", name: "Secret" } });
    await books.ok("update_settings", { category: { action: "make_private", name: "Secret" } });
    await log(books, "Casino", [["2026-08-01", "70"]], { category: "Secret" });
    assertEquals(await namesOf(member), ["Casino", "Market hall"]);
    const rules = ["Market hall", "Casino"].map((payee) => ({ payee, no_bill: true }));
    await books.ok("update_settings", { payee_rules: rules });
    assertEquals([await namesOf(books), await namesOf(member)], [[], ["Casino"]]);
    await books.ok("update_settings", { own_only: true });
    assertEquals(await namesOf(member), ["Casino"]);
    await log(books, "Market hall", [["2026-08-01", "70"]]);
    assertEquals(await namesOf(member), ["Casino", "Market hall"]);
  },
  "a price that changed once is one stream": async (books) => {
    await log(books, "Mobile", [["2026-07-10", "20"], ["2026-08-10", "20"], ["2026-09-10", "20"]]);
    await log(books, "Mobile", [["2026-10-12", "22"], ["2026-11-10", "22"]]);
    const [mobile] = await recurring(books);
    assertEquals([mobile!.amount, mobile!.lowest, mobile!.charges, mobile!.next_on], [
      "22.00",
      "20.00",
      5,
      "2026-12-10",
    ]);
  },
});

const pad = (n: number) => String(n).padStart(2, "0");
/** Imports a statement. @returns the commit's answer */
async function importStatement(books: Books, rows: Charge3[]): Promise<Json> {
  const lines = rows.map(([day, name, amount]) => `${day},${name},${amount},,EUR`).join("\n");
  const file = importOfFile(`Date,Description,Debit,Credit,Currency\n${lines}\n`, { account: "Checking" });
  const { preview } = await books.ok("import_expenses", file);
  return await books.call("import_expenses", preview.commit_with);
}
type Charge3 = [day: string, name: string, amount: string];

testBooks("recurring charges in statements", { day: "2025-12-31" }, {
  "a household's year: each is proposed after its third charge, with at most one false proposal a month": async (
    books,
  ) => {
    let seed = 20260101;
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return Math.floor(seed / 65536) % below;
    };
    const fixed: [name: string, day: number, amount: string, every: number][] = [
      ["HAUSVERWALTUNG BERGER MIETE", 1, "1180.00", 1],
      ["NETFLIX.COM AMSTERDAM", 5, "13.99", 1],
      ["SPOTIFY P2F4A1", 12, "10.99", 1],
      ["URBAN SPORTS CLUB", 29, "33.00", 1],
      ["RUNDFUNK ARD ZDF", 15, "55.08", 3],
      ["ICLOUD STORAGE", 20, "2.99", 1],
    ];
    const varying: [name: string, day: number, base: number][] = [
      ["STADTWERKE STROM", 14, 7000],
      ["MOBILFUNK NORD", 22, 2400],
    ];
    const shops = ["REWE MARKT", "EDEKA", "LIDL", "SHELL TANKSTELLE", "CAFE KOENIG", "ROSSMANN", "AMAZON MARKETPLACE"];
    const truth = [...fixed.map(([name]) => name), ...varying.map(([name]) => name)];
    const seen = new Map<string, number>();
    for (let month = 1; month <= 12; month++) {
      const rows: Charge3[] = [];
      const at = (day: number) => `2026-${pad(month)}-${pad(Math.min(28, day + random(3)))}`;
      for (const [name, day, amount, every] of fixed) if ((month - 1) % every === 0) rows.push([at(day), name, amount]);
      for (const [name, day, base] of varying) {
        rows.push([at(day), name, ((base + random(2000)) / 100).toFixed(2)]);
      }
      for (let i = 0; i < 45; i++) {
        const amount = random(4) === 0 ? "9.99" : ((random(9000) + 150) / 100).toFixed(2);
        rows.push([at(1 + random(26)), shops[random(shops.length)]!, amount]);
      }
      rows.forEach(([, name]) => truth.includes(name) && seen.set(name, (seen.get(name) ?? 0) + 1));
      books.goTo(month === 12 ? "2027-01-02" : `2026-${pad(month + 1)}-02`);
      const { warnings } = await importStatement(books, rows);
      const found = await recurring(books);
      const proposed = found.map(({ name }) => String(name).toUpperCase());
      for (const name of truth) {
        assertEquals(proposed.includes(name), seen.get(name)! >= 3, `${name} in month ${month}: ${proposed}`);
      }
      const wrong = proposed.filter((name) => !truth.includes(name));
      assertEquals(wrong.length <= 1, true, `month ${month}: ${wrong}`);
      assertEquals(/regularly, and no bill covers/.test(JSON.stringify(warnings ?? [])), month >= 3, `month ${month}`);
    }
  },

  "a bill that the statements no longer charge is named, until they charge it": async (books) => {
    await books.ok("add_bill", { name: "Netflix", amount: "13.99", first_due: "2026-01-05" });
    const stopped = async () => (await books.ok("review_bills")).stopped_charges.map(({ text }: Json) => text);
    books.goTo("2026-02-01");
    await importStatement(books, [["2026-01-05", "NETFLIX.COM", "13.99"], ["2026-01-31", "Kiosk", "3.00"]]);
    assertEquals(await stopped(), []);
    books.goTo("2026-02-20");
    assertEquals(await stopped(), [], "no statement covers the date yet");
    const { change_id } = await importStatement(books, [["2026-02-17", "Bakery", "4.00"]]);
    assertEquals(await stopped(), [], "the statement of the date is missing");
    await books.ok("undo_change", { change_id });
    await importStatement(books, [["2026-02-09", "Bakery", "4.00"], ["2026-02-17", "Bakery", "4.00"]]);
    assertEquals(await stopped(), [
      "Netflix was due on 2026-02-05, but the statements of Checking to 2026-02-17 have no such charge. If it was cancelled, update_bill with set.status cancelled and apply_from 2026-02-05 ends it; if it was paid another way, mark_bill_paid records it.",
    ]);
    const stranger = await books.join();
    await books.ok("update_settings", { own_only: true });
    assertEquals((await stranger.ok("review_bills")).stopped_charges, []);
    await importStatement(books, [["2026-02-06", "NETFLIX.COM", "13.99"]]);
    assertEquals(await stopped(), []);
  },

  "balances that add up cover the days between them": async (books) => {
    await books.ok("add_bill", { name: "Netflix", amount: "13.99", first_due: "2026-01-15" });
    books.goTo("2026-04-20");
    const statement = async (...rows: [day: string, name: string, amount: string, balance: string][]) => {
      const lines = rows.map((row) => row.join(",")).join("\n");
      const file = importOfFile(`Date,Description,Amount,Balance\n${lines}\n`, { account: "Checking" });
      await books.ok("import_expenses", (await books.ok("import_expenses", file)).preview.commit_with);
    };
    const stopped = async () =>
      (await books.ok("review_bills")).stopped_charges.map((
        { due_on, statements_to }: Json,
      ) => [due_on, statements_to]);
    await statement(["2026-01-14", "Kiosk", "-1.00", "99.00"], ["2026-01-15", "NETFLIX.COM", "-13.99", "85.01"]);
    await statement(["2026-03-12", "Tea", "-5.00", "75.01"], ["2026-03-13", "Tea 2", "-5.00", "70.01"]);
    assertEquals(await stopped(), [], "5.00 EUR between the statements are unknown");
    await statement(["2026-02-01", "Bakery", "-2.00", "83.01"], ["2026-02-27", "Bakery 2", "-3.00", "80.01"]);
    assertEquals(await stopped(), [["2026-02-15", "2026-03-13"]]);
  },

  "automatic payments that no statement shows are named, even if the bill came after its charges": async (
    books,
    database,
  ) => {
    const stopped = async () => (await books.ok("review_bills")).stopped_charges.map(({ text }: Json) => text);
    books.goTo("2026-02-01");
    await importStatement(books, [["2026-01-05", "Audible GmbH", "9.95"], ["2026-01-31", "Kiosk", "3.00"]]);
    const bill = { name: "Audible", amount: "9.95", payee: "Audible GmbH", first_due: "2026-02-05", autopay: true };
    await books.ok("add_bill", bill);
    books.goTo("2026-03-20");
    await rollAll(database, "2026-03-20T12:00:00Z");
    await importStatement(books, [["2026-02-09", "Bakery", "4.00"], ["2026-02-20", "Bakery", "4.00"]]);
    assertEquals(await stopped(), [
      "Audible was due on 2026-02-05, but the statements of Checking to 2026-02-20 have no such charge. The books recorded 2 automatic payments since then and count 19.90 EUR as spent. If it was cancelled, update_bill with set.status cancelled and apply_from 2026-02-05 ends it and removes them; if another account paid, they are right.",
    ]);
    await importStatement(books, [["2026-02-06", "Audible GmbH", "9.95"]]);
    assertEquals(await stopped(), []);
  },

  "a bill cancelled from a day in a closed month keeps its payments and stays active": async (books, database) => {
    const bill = { name: "TuneBox", amount: "10.99", first_due: "2026-01-11", autopay: true };
    const { bill: { id } } = await books.ok("add_bill", bill);
    books.goTo("2026-03-20");
    await rollAll(database, "2026-03-20T12:00:00Z");
    await books.ok("update_settings", { closed_through: "2026-02" });
    const end = { bill_id: id, set: { status: "cancelled" }, apply_from: "2026-02-01" };
    await books.fails("month_closed", "update_bill", end);
    const { bills: [{ status }] } = await books.ok("list_bills");
    assertEquals([status, (await books.ok("list_expenses", {})).rows.length], ["active", 3]);
  },
  "a bill cancelled from an earlier day on loses its disproven payments and its open dates": async (
    books,
    database,
  ) => {
    const within = (month: string) => ({ from: `2026-${month}-01`, to: `2026-${month}-28` });
    const total = async (month: string) => (await books.ok("summarize_spending", within(month))).total.amount;
    const warned = async (tool: string, args: Json) =>
      (await books.call(tool, args)).warnings.filter(({ code }: Json) => code === "not_in_statements")
        .map(({ message }: Json) => message);
    const bill = { name: "TuneBox", amount: "10.99", first_due: "2026-01-11", autopay: true };
    const { bill: { id } } = await books.ok("add_bill", bill);
    const sky = { name: "Sky", amount: "5", first_due: "2026-02-10" };
    const { bill: { id: skyId } } = await books.ok("add_bill", sky);
    books.goTo("2026-03-20");
    await rollAll(database, "2026-03-20T12:00:00Z");
    const days = ["2026-02-01", "2026-02-20", "2026-03-02", "2026-03-19"];
    await importStatement(books, [
      ["2026-01-11", "TuneBox", "10.99"],
      ...days.map((day): Charge3 => [day, "Tea", "4"]),
    ]);
    assertEquals([await total("02"), await total("03")], ["18.99", "18.99"]);
    const message =
      "TuneBox was recorded automatically (10.99 EUR on 2026-02-11), but the statements of Checking do not " +
      "show it. The amounts count as spent; review_bills says how to remove them.";
    assertEquals(await warned("summarize_spending", within("02")), [message]);
    assertEquals(await warned("summarize_spending", within("01")), []);
    const both = message.replace("10.99 EUR on 2026-02-11", "21.98 EUR on 2026-02-11 and 2026-03-11");
    assertEquals(await warned("list_expenses", { from: "2026-01-01" }), [both]);
    assertEquals(await warned("list_expenses", { query: "Tea" }), []);

    await books.ok("update_bill", { bill_id: id, set: { status: "cancelled" } });
    const { stopped_charges: [{ bill_id, due_on, recorded, text }] } = await books.ok("review_bills");
    assertEquals([bill_id, due_on, recorded], [id, "2026-02-11", 2]);
    assertMatch(text, /update_bill with set.status cancelled and apply_from 2026-02-11 ends it and removes them;/);
    const end = { set: { status: "cancelled" }, apply_from: due_on };
    const { change_id } = await books.call("update_bill", { bill_id: id, ...end });
    await books.ok("update_bill", { bill_id: skyId, ...end });
    const after = await books.ok("review_bills");
    assertEquals([after.stopped_charges, after.overdue.map(({ dates, due_on }: Json) => [due_on, dates])], [[], [
      ["2026-02-10", 1],
    ]]);
    assertEquals([await total("01"), await total("02"), await total("03")], ["10.99", "8.00", "8.00"]);
    assertEquals(await warned("list_expenses", {}), []);

    await books.ok("undo_change", { change_id });
    assertEquals((await books.ok("review_bills")).stopped_charges[0].recorded, 2);
    assertEquals([await total("02"), await total("03")], ["18.99", "18.99"]);
    await importStatement(books, [["2026-03-12", "TuneBox", "10.99"]]);
    await books.ok("update_bill", { bill_id: id, ...end });
    assertEquals([await total("02"), await total("03")], ["8.00", "18.99"], "a statement shows March");
  },

  "automatic payments are named for the first date that statements cover": async (books, database) => {
    books.goTo("2026-01-21");
    await importStatement(books, [["2026-01-05", "Audible GmbH", "9.95"], ["2026-01-20", "Kiosk", "3.00"]]);
    const bill = { name: "Audible", amount: "9.95", payee: "Audible GmbH", first_due: "2026-02-05", autopay: true };
    await books.ok("add_bill", bill);
    books.goTo("2026-04-07");
    await rollAll(database, "2026-04-07T12:00:00Z");
    const days = ["2026-02-20", "2026-03-02", "2026-03-14", "2026-03-16"];
    await importStatement(books, days.map((day): Charge3 => [day, "Tea", "4.00"]));
    const [{ due_on, recorded, amount }] = (await books.ok("review_bills")).stopped_charges;
    assertEquals([due_on, recorded, amount], ["2026-03-05", 2, "19.90"]);
  },

  "a charge with another amount, or a part payment, has not stopped": async (books) => {
    await books.ok("add_bill", { name: "Netflix", amount: "13.99", first_due: "2026-01-05" });
    await books.ok("add_bill", { name: "Gym", amount: "40.00", first_due: "2026-01-06" });
    books.goTo("2026-02-20");
    await importStatement(books, [["2026-01-05", "NETFLIX.COM", "13.99"], ["2026-01-06", "GYM", "40.00"]]);
    await books.ok("mark_bill_paid", { bill_name: "Gym", due_on: "2026-02-06", amount: "10", paid_on: "2026-02-06" });
    await importStatement(books, [
      ["2026-02-01", "Kiosk", "3.00"],
      ["2026-02-05", "NETFLIX.COM", "15.99"],
      ["2026-02-17", "Bakery", "4.00"],
    ]);
    assertEquals((await books.ok("review_bills")).stopped_charges, []);
  },

  "an import names the first charges that recur, and counts the others": async (books) => {
    books.goTo("2026-04-01");
    const { warnings } = await importStatement(
      books,
      ["Alpha", "Bravo", "Charlie", "Delta", "Echo", "Foxtrot"].flatMap((name, n) =>
        ["01", "02", "03"].map((month): Charge3 => [`2026-${month}-1${n}`, name, `${9 + n}.50`])
      ),
    );
    const [{ message }] = warnings.filter(({ code }: Json) => code === "recurring_charges");
    assertMatch(
      message,
      /^6 charges recur regularly, and no bill covers them: [A-Z]\w+, [A-Z]\w+, [A-Z]\w+ and 3 more\./,
    );
  },

  "a row with a spoken or impossible date does not stop the commit": async (books) => {
    books.goTo("2026-02-01");
    for (const [date, created] of [["5 Jan", 2], ["2026-02-30", 1]] as const) {
      const file = importOfFile(
        `Date,Description,Debit,Credit,Currency\n2026-01-0${created},Kiosk ${date},3.00,,EUR\n2026-01-06,Tea ${date},${
          3 + created
        }.00,,EUR\n`,
        { account: "Checking" },
      );
      const { preview: { import_id } } = await books.ok("import_expenses", file);
      const parsed = importExpenses.parse({ import_id, corrections: [{ line: 2, date }] });
      if (!parsed.ok) throw new Error(parsed.error.code);
      const { preview } = await books.ok("import_expenses", parsed.value);
      assertEquals((await books.ok("import_expenses", preview.commit_with)).created, created);
    }
    await books.ok("review_bills");
  },
});
