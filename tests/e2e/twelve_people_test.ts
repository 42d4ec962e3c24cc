/**
 * Twelve people with four roles and their assistants live a month in one organization. They join by invitation,
 * record, correct, delete and pay. One of them gets access to a private category, own-only access is on for a while,
 * the organization is handed over, one member is removed and one becomes a viewer. Every few days each of them asks
 * for every total, which must equal an independent ledger of permitted records. `TWELVE_SEED` selects another month.
 */
import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import type { Role } from "../../shared/roles.ts";
import { sharedDatabase } from "../_support/database.ts";
import { type Browser, createPages, over, signIn } from "../functions/auth-callback/harness.ts";
import { asDatabase, createJob, mailService, withRates } from "../functions/cron-reminders/harness.ts";
import { connectClient, type Json, type Member, newMember } from "./connector_harness.ts";
import { chanceOf } from "./year/days.ts";
import { say } from "./year/money.ts";

const SEED = Number(Deno.env.get("TWELVE_SEED") ?? 20261101);
const chance = chanceOf(SEED);
const CATEGORIES = ["Food", "Transport", "Software", "Payroll"] as const;
const PRIVATE = "Payroll";
const CHECKED_ON = [3, 8, 13, 18, 21, 23, 26, 30];

interface Person extends Member {
  name: string;
  role: Role | "removed";
  seesPrivate: boolean;
  browser: Browser;
}

/** The test's own records. */
interface Bill {
  id: string;
  name: string;
  minor: number;
  category: string;
  dueOn: string;
  by: Person;
  assignee?: Person;
  isPaid: boolean;
}
interface Expense {
  id: string;
  minor: number;
  day: number;
  category: string;
  by: Person;
  bill?: Bill;
}

const database = await sharedDatabase();

const dateOf = (day: number) => `2026-11-${String(day).padStart(2, "0")}`;
const emailOf = (name: string) => `${name.toLowerCase()}@example.com`;

Deno.test(`twelve people use one organization for a month, and each sees only permitted records (seed ${SEED})`, async () => {
  await database.reset();
  let day = 1;
  const clock = () => new Date(`${dateOf(day)}T09:00:00Z`);
  const pages = createPages(over(database), { rateLimits: "off" });
  const owner = await newMember(database, { email: emailOf("Anna"), organization: "Elm Street", plan: "team", clock });
  const { organizationId } = owner;
  const path = `/organizations/${organizationId}/members`;
  pages.provider.users.set(owner.email, { id: owner.userId, email: owner.email });
  pages.clock.now = clock();
  const anna: Person = {
    ...owner,
    ...{ name: "Anna", role: "owner", seesPrivate: false },
    browser: (await signIn(pages, owner.email)).browser,
  };
  const people: Person[] = [anna];
  const person = (name: string) => people.find((one) => one.name === name)!;

  const open = async ({ browser }: Person, where: string) => await (await browser.get(where)).text();
  const onMembersPage = async (who: Person, about: string, fields: Record<string, string>, where = path) => {
    const response = await who.browser.submit(await open(who, where), about, fields);
    assertEquals(response.status, 303, await response.text());
  };

  async function join(name: string, role: Role, host: Person): Promise<void> {
    const email = emailOf(name);
    await onMembersPage(host, 'value="invite"', { address: email, role });
    const mail = pages.mails.at(-1)!;
    assertEquals(mail.to, email);
    assertStringIncludes(mail.text, "Elm Street");
    const [link] = /\/invitation\?t=\S+/.exec(mail.text)!;
    const { id } = pages.provider.user(email);
    await database.query("insert into auth.users (id, email) values ($1, $2)", [id, email]);
    // Another signed-in person who receives the link gets no access.
    assertEquals((await chance.pick(people).browser.get(link)).status, 403);
    const browser = pages.browser();
    const page = await (await browser.get(link)).text();
    const joined = await browser.submit(page, 'name="country"', { country: "DE", timezone: "Europe/Berlin" });
    assertEquals(joined.headers.get("location"), `/books?organization=${organizationId}&news=joined`);
    const client = await connectClient(database, { userId: id, email, organizationId }, clock);
    people.push({ ...client, name, role, seesPrivate: false, browser });
  }

  // The ledger, with the visibility of each part.
  const expenses: Expense[] = [];
  const bills: Bill[] = [];
  let isOwnOnly = false;
  const present = () => people.filter(({ role }) => role !== "removed");
  const writers = () => present().filter(({ role }) => role !== "viewer");
  const isInside = ({ role, seesPrivate }: Person) => role === "owner" || role === "manager" || seesPrivate;
  const sees = (who: Person, what: { category: string; by: Person; assignee?: Person }) =>
    (what.category !== PRIVATE || isInside(who)) &&
    (!(isOwnOnly && who.role === "member") || what.by === who || what.assignee === who);
  const seesExpense = (who: Person, { bill, ...expense }: Expense) =>
    sees(who, { ...expense, ...(bill && { by: bill.by, assignee: bill.assignee }) });

  let named = 0;
  const used = new Set<number>();
  /** Amounts are unique, so none looks like a duplicate. */
  const newAmount = (): number => {
    const minor = chance.int(101, 99_999);
    if (used.has(minor)) return newAmount();
    used.add(minor);
    return minor;
  };
  async function record(who: Person): Promise<void> {
    const items = Array.from({ length: chance.int(1, 3) }, () => ({
      minor: newAmount(),
      day: chance.int(1, day),
      category: chance.pick(CATEGORIES.filter((category) => category !== PRIVATE || isInside(who))),
    }));
    const { data, change_id } = await who.ok("log_expenses", {
      items: items.map(({ minor, day, category }) => ({
        name: `Item ${++named}`,
        amount: say(minor, "EUR"),
        date: dateOf(day),
        category,
      })),
    });
    assertEquals(data.results.map(({ status }: Json) => status), items.map(() => "created"));
    if (chance.oneIn(6)) return void await who.ok("undo_change", { change_id });
    expenses.push(...items.map((item, n) => ({ ...item, id: data.results[n].id, by: who })));
  }

  async function correct(who: Person): Promise<void> {
    const expense = chance.pick([undefined, ...expenses.filter((one) => !one.bill && seesExpense(who, one))]);
    if (!expense) return;
    const minor = newAmount();
    await who.ok("update_expenses", { ids: [expense.id], set: { amount: say(minor, "EUR") } });
    expense.minor = minor;
  }

  async function remove(who: Person): Promise<void> {
    const expense = chance.pick([undefined, ...expenses.filter((one) => !one.bill && seesExpense(who, one))]);
    if (!expense) return;
    const { change_id } = await who.ok("delete_records", { ids: [expense.id] });
    if (chance.oneIn(2)) return void await who.ok("undo_change", { change_id });
    expenses.splice(expenses.indexOf(expense), 1);
  }

  async function addBill(who: Person): Promise<void> {
    const category = chance.pick(CATEGORIES.filter((category) => category !== PRIVATE || isInside(who)));
    // Private bills are assigned only to people who see them, as in real life.
    const assignee = chance.oneIn(2)
      ? chance.pick(writers().filter((one) => category !== PRIVATE || isInside(one)))
      : undefined;
    const dueOn = dateOf(Math.min(30, day + chance.int(0, 5)));
    const bill = { name: `Bill ${++named}`, minor: newAmount(), category, dueOn, by: who, assignee };
    const { data } = await who.ok("add_bill", {
      name: bill.name,
      amount: say(bill.minor, "EUR"),
      category,
      first_due: dueOn,
      frequency: "yearly",
      ...(assignee && { assignee: assignee.email }),
    });
    bills.push({ ...bill, id: data.bill.id, isPaid: false });
  }

  async function pay(who: Person): Promise<void> {
    const bill = chance.pick([undefined, ...bills.filter((one) => !one.isPaid && sees(who, one))]);
    if (!bill) return;
    const { data } = await who.ok("mark_bill_paid", { bill_id: bill.id, due_on: bill.dueOn });
    bill.isPaid = true;
    expenses.push({ id: data.payment.id, minor: bill.minor, day, category: bill.category, by: who, bill });
  }

  /** Tries actions that the role forbids: nothing changes, and the answer names the people to ask. */
  async function overreach(who: Person): Promise<void> {
    const error = who.role === "viewer"
      ? await who.fails("log_expenses", { items: [{ name: "Mine", amount: "5.00" }] })
      : await who.fails("update_settings", { own_only: !isOwnOnly });
    assertEquals(error.code, "forbidden_role", JSON.stringify(error));
    assertStringIncludes(JSON.stringify(error), present().find(({ role }) => role === "owner")!.email);
    const hidden = expenses.find((one) => !one.bill && !seesExpense(who, one));
    if (hidden) assertEquals((await who.fails("delete_records", { ids: [hidden.id] })).code, notThere(who));
  }
  const notThere = (who: Person) => who.role === "viewer" ? "forbidden_role" : "not_found";

  async function compare(who: Person): Promise<void> {
    const about = `${who.name} (${who.role}) on day ${day}, seed ${SEED}`;
    const period = { from: dateOf(1), to: dateOf(30) };
    const seen = expenses.filter((expense) => seesExpense(who, expense));
    const sums = new Map<string, { minor: number; count: number }>();
    for (const { category, minor } of seen) {
      const { minor: so, count } = sums.get(category) ?? { minor: 0, count: 0 };
      sums.set(category, { minor: so + minor, count: count + 1 });
    }
    const { data } = await who.ok("summarize_spending", { ...period, group_by: ["category"] });
    const total = seen.reduce((sum, { minor }) => sum + minor, 0);
    assertEquals([data.total.amount, data.total.count], [say(total, "EUR"), seen.length], about);
    assertEquals(
      data.rows.map(({ group, amount, count }: Json) => `${group[0]} ${amount} ${count}`).toSorted(),
      [...sums].map(([category, { minor, count }]) => `${category} ${say(minor, "EUR")} ${count}`).toSorted(),
      about,
    );
    const listed = await who.ok("list_expenses", { ...period, limit: 100 });
    assertEquals(listed.total_count, seen.length, about);
    assertEquals(listed.totals_by_currency, seen.length > 0 ? { EUR: say(total, "EUR") } : {}, about);
    const shown = await who.ok("list_bills", { status: "all", limit: 100 });
    assertEquals(
      shown.data.bills.map(({ name }: Json) => name).toSorted(),
      bills.filter((bill) => sees(who, bill)).map(({ name }) => name).toSorted(),
      about,
    );
    if (!isInside(who)) assertFalse(JSON.stringify([data, listed, shown]).includes(PRIVATE), about);
  }

  const mail = mailService();
  const job = createJob({ database: asDatabase(database), fetch: withRates(mail.fetch), now: clock });
  async function readMails(): Promise<void> {
    const before = mail.delivered.length;
    await job.run();
    for (const { to, text, html } of mail.delivered.slice(before)) {
      assert(present().some(({ email }) => email === to), `a mail to ${to} on day ${day}, seed ${SEED}`);
      const reader = present().find(({ email }) => email === to)!;
      for (const bill of bills.filter((one) => !sees(reader, one))) {
        assertFalse(new RegExp(`${bill.name}\\b`).test(text + html), `${to} reads of ${bill.name}, seed ${SEED}`);
      }
    }
  }

  const events: Record<number, () => Promise<void>> = {
    1: async () => {
      await anna.ok("update_settings", { category: { action: "create", name: PRIVATE } });
      await anna.ok("update_settings", { category: { action: "make_private", name: PRIVATE } });
      for (const name of ["Bo", "Cem"]) await join(name, "manager", anna);
      for (const name of ["Dora", "Emil", "Fay", "Gus", "Hana"]) await join(name, "member", anna);
      for (const name of ["Jon", "Kim"]) await join(name, "viewer", anna);
    },
    6: () => onMembersPage(anna, 'value="open_private"', { member_id: person("Kim").userId }),
    9: async () => {
      await join("Ivo", "member", person("Bo"));
      await join("Lia", "viewer", person("Bo"));
      assertEquals(present().length, 12);
    },
    12: async () => void await person("Cem").ok("update_settings", { own_only: true }),
    15: async () => {
      const bo = person("Bo");
      await onMembersPage(anna, "member_id", { member_id: bo.userId }, path.replace("members", "hand-over"));
      await onMembersPage(bo, 'value="accept_handover"', {});
      [anna.role, bo.role] = ["manager", "owner"];
    },
    20: async () => {
      const emil = person("Emil");
      await onMembersPage(person("Bo"), "danger", {}, `${path}/remove?member=${emil.userId}`);
      emil.role = "removed";
      for (const bill of bills.filter(({ assignee }) => assignee === emil)) bill.assignee = undefined;
      const { text } = await emil.call("list_expenses");
      assertFalse(/Item|Bill/.test(text), text);
      assertEquals((await emil.browser.get(path)).status, 404);
    },
    22: async () => void await person("Bo").ok("update_settings", { own_only: false }),
    25: async () => {
      await onMembersPage(person("Bo"), 'value="close_private"', { member_id: person("Kim").userId });
      await onMembersPage(person("Cem"), 'value="role"', { member_id: person("Fay").userId, role: "viewer" });
      person("Fay").role = "viewer";
    },
  };
  const after: Record<number, () => void> = {
    6: () => void (person("Kim").seesPrivate = true),
    12: () => void (isOwnOnly = true),
    22: () => void (isOwnOnly = false),
    25: () => void (person("Kim").seesPrivate = false),
  };

  for (day = 1; day <= 30; day++) {
    pages.clock.now = clock();
    await events[day]?.();
    after[day]?.();
    for (const who of writers().filter(() => !chance.oneIn(3))) {
      await chance.pick([record, record, record, correct, remove, addBill, pay, pay])(who);
    }
    await overreach(chance.pick(present().filter(({ role }) => role === "member" || role === "viewer")));
    await readMails();
    if (CHECKED_ON.includes(day)) { for (const who of present()) await compare(who); }
  }
  assert(expenses.length > 60 && bills.length > 5 && mail.delivered.length > 5, `a quiet month, seed ${SEED}`);
  assert(expenses.some(({ category }) => category === PRIVATE));
});
