/** The end of a month: every answer about money, compared with the ledger to the cent. */
import { assertEquals } from "@std/assert";
import type { Json } from "../connector_harness.ts";
import { type Entry, GROUPINGS, signed } from "./ledger.ts";
import { say } from "./money.ts";
import { assertSameRows } from "./same_rows.ts";
import type { Organization } from "./organization.ts";

interface Period {
  from: string;
  to: string;
}

/** @param period the past month */
export async function compareMonth(organization: Organization, period: Period): Promise<void> {
  organization.charge();
  const year = { from: `${period.from.slice(0, 4)}-01-01`, to: period.to };
  await compareRows(organization, year);
  await compareFile(organization, period);
  for (const span of [period, year]) await compareSums(organization, span);
  await compareBills(organization);
}

/** `2026-10-05 Lunch …`: a row in the form of all answers. */
function spell({ ledger }: Organization, entry: Entry): string {
  const { date, name, minor, currency, category, payee = "", tags = [], isRefund, bill } = entry;
  const kind = isRefund ? "refund" : bill ? "bill_payment" : "one_off";
  const worth = say(ledger.valueOf(entry), ledger.base);
  return [date, kind, name, payee, category, tags.join("; "), say(minor, currency), currency, worth].join(" | ");
}

async function compareRows(organization: Organization, period: Period): Promise<void> {
  const { ledger, owner } = organization;
  const entries = ledger.within(period.from, period.to);
  const rows: string[] = [];
  let cursor: string | undefined;
  let totals: Json;
  do {
    const answer = await owner.ok("list_expenses", { ...period, limit: 100, ...(cursor && { cursor }) });
    totals = [answer.total_count, answer.totals_by_currency];
    rows.push(...answer.data.rows.map((row: Json) =>
      [
        row.date,
        row.kind,
        row.name,
        row.payee ?? "",
        row.category,
        (row.tags ?? []).join("; "),
        row.amount,
        row.currency,
        row.base_amount,
      ].join(" | ")
    ));
    cursor = answer.next_cursor;
  } while (cursor);
  assertSameRows(rows, entries.map((entry) => spell(organization, entry)), `rows to ${period.to}`);
  const byCurrency = sumBy(entries, ({ currency }) => [currency], (entry) => signed(entry.minor, entry));
  assertEquals(totals, [
    entries.length,
    Object.fromEntries([...byCurrency].map(([currency, { sum }]) => [currency, say(sum, currency)])),
  ]);
}

async function compareFile(organization: Organization, period: Period): Promise<void> {
  const { ledger, owner } = organization;
  const { data } = await owner.ok("list_expenses", { ...period, format: "csv" });
  const [head, ...lines] = data.csv.trimEnd().split("\r\n") as string[];
  const columns = head!.split(",");
  const rows = lines.map((line) => {
    const cells = Object.fromEntries(line.split(",").map((cell, index) => [columns[index], cell]));
    const { date, kind, name, payee, category, tags, amount, currency, base_amount } = cells;
    // Refunds are negative in the file, so a column adds up.
    const plain = [amount, currency, base_amount].map((cell) => kind === "refund" ? cell!.replace(/^-/, "") : cell);
    return [date, kind, name, payee, category, tags, ...plain].join(" | ");
  });
  const entries = ledger.within(period.from, period.to);
  assertSameRows(rows, entries.map((entry) => spell(organization, entry)), `the file of ${period.from}`);
}

/** The note about provisional amounts that a total must contain: their number and sum. */
function unsettled({ bills, today }: Organization, { from, to }: Period): string[] {
  const within = ({ on }: { on: string }) => on >= from && on <= to;
  const estimates = bills.flatMap((bill) => bill.estimates().filter(within).map(({ minor }) => ({ minor, bill })));
  const sums = new Map<string, number>();
  for (const { minor, bill: { plan: { currency } } } of estimates) {
    sums.set(currency, (sums.get(currency) ?? 0) + minor!);
  }
  const awaited = bills.filter((bill) => bill.awaited(today()).some(within)).map(({ plan: { name } }) => name);
  return [
    ...(estimates.length > 0
      ? [
        `${estimates.length} estimated, ${[...sums].map(([of, sum]) => `${say(sum, of)} ${of}`).toSorted().join(", ")}`,
      ]
      : []),
    ...(awaited.length > 0 ? [`awaited: ${awaited.toSorted().join(", ")}`] : []),
  ];
}

/** The same in a warning. */
function readUnsettled({ code, message }: { code: string; message: string }): string {
  if (code === "amount_awaited") {
    return `awaited: ${message.split(/ (?:was|were) charged/)[0]!.split(/, | and /).toSorted().join(", ")}`;
  }
  const amounts = [...message.matchAll(/\d+(?:\.\d+)? [A-Z]{3}/g)].map(([amount]) => amount);
  return code === "amount_estimated" ? `${parseInt(message)} estimated, ${amounts.toSorted().join(", ")}` : message;
}

/** Every grouping, in the base currency. */
async function compareSums(organization: Organization, period: Period): Promise<void> {
  const { ledger, owner } = organization;
  const entries = ledger.within(period.from, period.to);
  const value = (entry: Entry) => signed(ledger.valueOf(entry), entry);
  const total = { amount: say(entries.reduce((sum, entry) => sum + value(entry), 0), ledger.base) };
  for (const [grouping, groupsOf] of Object.entries(GROUPINGS)) {
    const { data, warnings } = await owner.ok("summarize_spending", { ...period, group_by: [grouping], top: 100 });
    const about = `by ${grouping}, ${period.from} to ${period.to}`;
    assertEquals([warnings.map(readUnsettled), data.unconverted], [unsettled(organization, period), []], about);
    assertEquals([data.total.amount, data.total.count], [total.amount, entries.length], about);
    const sums = sumBy(entries, groupsOf, value);
    // The hundred largest are shown; a year has more days than that.
    if (sums.size > 100) continue;
    assertSameRows(
      data.rows.map(({ group, amount, count }: Json) => `${group[0]} ${amount} ${count}`),
      [...sums].map(([group, { sum, count }]) => `${group} ${say(sum, ledger.base)} ${count}`),
      about,
    );
  }
}

/** Due, overdue and paid amounts of each bill, equal to the values elsewhere. */
async function compareBills(organization: Organization): Promise<void> {
  const { ledger, owner, bills } = organization;
  const today = organization.today();
  const { data, next_cursor } = await owner.ok("list_bills", { status: "all", limit: 100 });
  assertEquals(next_cursor, undefined);
  const shown = new Map<string, Json>(data.bills.map((bill: Json) => [bill.name, bill]));
  const overdue: string[] = [];
  for (const bill of bills) {
    const { name, currency } = bill.plan;
    const late = bill.overdue(today);
    const said = shown.get(name);
    assertEquals(
      [said.next_due, said.overdue.map(({ due_on }: Json) => due_on)],
      [bill.next(today)?.on, late.map(({ on }) => on)],
      name,
    );
    if (late.length > 0) overdue.push(`${name} ${late[0]!.on} ${late.length}`);
    const entries = ledger.within("2025-01-01", "2027-12-31").filter((entry) => entry.bill?.name === name);
    const history = (await owner.ok("list_bills", { bill_id: bill.id, status: "all" })).data.payments;
    const latest = entries.toSorted((one, other) => one.date < other.date ? 1 : -1).slice(0, 12);
    assertSameRows(
      history.map(({ paid_on, due_on, amount, base_amount }: Json) => [paid_on, due_on, amount, base_amount].join(" ")),
      latest.map((entry) =>
        [entry.date, entry.bill!.dueOn, say(entry.minor, currency), say(ledger.valueOf(entry), ledger.base)].join(" ")
      ),
      `payments of ${name} on ${today}`,
    );
  }
  const review = await owner.ok("review_bills");
  assertSameRows(
    review.data.overdue.map(({ name, due_on, dates }: Json) => `${name} ${due_on} ${dates}`),
    overdue,
    `overdue on ${today}`,
  );
}

function sumBy(entries: Entry[], groupsOf: (entry: Entry) => string[], value: (entry: Entry) => number) {
  const sums = new Map<string, { sum: number; count: number }>();
  for (const entry of entries) {
    for (const group of groupsOf(entry)) {
      const { sum, count } = sums.get(group) ?? { sum: 0, count: 0 };
      sums.set(group, { sum: sum + value(entry), count: count + 1 });
    }
  }
  return sums;
}
