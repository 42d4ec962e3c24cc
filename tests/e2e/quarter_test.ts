/**
 * Four people in three roles, one of them read-only, and their assistants live through a quarter with approval rules
 * and shared costs in three currencies. An independent ledger predicts the waiting writes, their approvers, whether an
 * approved write still matches, and all balances; the product must agree for each person. `QUARTER_SEED` selects
 * another quarter.
 */
import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { createPages, over, signIn } from "../functions/auth-callback/harness.ts";
import { asDatabase, createJob, ecbXml, mailService, withRates } from "../functions/cron-reminders/harness.ts";
import { joinMember, type Json, type Member, newMember } from "./connector_harness.ts";
import {
  balancesOf,
  CURRENCIES,
  drawSharing,
  type Entry,
  exceeds,
  type Moved,
  type Settlement,
  told,
  Window,
  YEN,
} from "./quarter/paper.ts";
import { chanceOf, dayOfMonth, plus, range } from "./year/days.ts";
import { say } from "./year/money.ts";

const SEED = Number(Deno.env.get("QUARTER_SEED") ?? 20261001);
const chance = chanceOf(SEED);
const MEMBERS_UP_TO = 20_000;
const MANAGERS_UP_TO = 150_000;
/** One of the 30 days, before a waiting proposal expires. */
const UNDOABLE_DAYS = 20;
const LARGEST = { EUR: 30_000, JPY: 40_000, KWD: 90_000 };

interface Person extends Member {
  index: number;
  role: "owner" | "manager" | "member" | "viewer";
  written: Window;
}

/** A write: the tool's arguments, and its effect on the ledger. */
interface Write {
  tool: string;
  args: Record<string, unknown>;
  moved: Moved;
  /** The books when the write was made; the write still matches while they are unchanged. */
  found: () => string;
  apply(data: Json): void;
  /** Its undo in the ledger; absent for writes that the test never undoes. */
  revert?: () => void;
  /** The books after it, which an undo requires. */
  left?: () => string;
}

interface Waiting {
  by: Person;
  write: Write;
  foundThen: string;
  approver: "manager" | "owner";
  id: string;
  since: string;
  /** Nobody ever answers this proposal. */
  isLeft: boolean;
}

interface Done {
  by: Person;
  on: string;
  changeId: string;
  write: Write;
  leftThen: string;
}

/** The connector has no mail service here, so the job sends its pending mails. */
const afterAnswers: Promise<unknown>[] = [];
Object.assign(globalThis, { EdgeRuntime: { waitUntil: (work: Promise<unknown>) => void afterAnswers.push(work) } });

const database = await sharedDatabase();

Deno.test(`a quarter with approvals and shared costs matches the ledger (seed ${SEED})`, async () => {
  await database.reset();
  let at = "2026-09-30T12:00:00Z";
  const clock = () => new Date(at);
  const today = () => at.slice(0, 10);
  const pages = createPages(over(database), { rateLimits: "off" });
  const mail = mailService();
  /** Mails about proposals; only reminders have our own Message-ID. */
  const letters: { to: string; subject: string; text: string }[] = [];
  const deliver: typeof fetch = async (input, init) => {
    const [sent] = String(input).startsWith("https://api.resend.com/") ? JSON.parse(String(init?.body)) : [];
    if (!sent || sent.headers["Message-ID"]) return await mail.fetch(input, init);
    letters.push({ ...sent, to: sent.to[0] });
    return Response.json({ data: [{ id: "1" }] });
  };
  const job = createJob({
    database: asDatabase(database),
    now: clock,
    fetch: withRates(deliver, { ecb: () => new Response(ecbXml(today(), { rates: { JPY: String(YEN) } })) }),
  });

  const owner = await newMember(database, {
    email: "anna@example.com",
    organization: "Elm Street",
    plan: "team",
    clock,
  });
  const { organizationId } = owner;
  const people: Person[] = [{ ...owner, index: 0, role: "owner", written: new Window() }];
  for (
    const [name, role] of [["bo", "manager"], ["dora", "member"], ["emil", "member"], [
      "vera",
      "viewer",
    ]] as const
  ) {
    const joined = await joinMember(database, { email: `${name}@example.com`, organizationId, clock });
    await database.query(
      "update identity.memberships set role = $3, mails = 'all' where organization_id = $1 and user_id = $2",
      [
        organizationId,
        joined.userId,
        role,
      ],
    );
    people.push({ ...joined, index: people.length, role, written: new Window() });
  }
  const everybody = [...people];
  // Costs are never shared with viewers.
  people.pop();
  const [anna, bo] = people as [Person, Person];
  const emails = people.map(({ email }) => email);
  for (const { email, userId } of everybody) pages.provider.users.set(email, { id: userId, email });

  /** Opens a page in a browser that has just signed in. */
  async function visit({ email }: Person, path: string) {
    pages.clock.now = clock();
    pages.provider.mails.length = 0;
    const { browser } = await signIn(pages, email);
    const response = await browser.get(path);
    return { browser, status: response.status, html: await response.text() };
  }
  const policy = `/organizations/${organizationId}/approvals`;
  const rules: Record<string, string>[] = [
    { tool: "any", over: say(MEMBERS_UP_TO, "EUR"), records: "", role_member: "on", approver: "manager" },
    { tool: "delete_records", over: "", records: "1", role_member: "on", approver: "owner" },
    {
      tool: "any",
      over: say(MANAGERS_UP_TO, "EUR"),
      records: "",
      role_manager: "on",
      role_member: "",
      approver: "owner",
    },
  ];
  for (const fields of rules) {
    const { browser, html } = await visit(anna, policy);
    const response = await browser.submit(html, 'value="add"', fields);
    assertEquals(response.headers.get("location"), `${policy}?done=added`, await response.text());
  }
  const { browser, html } = await visit(anna, policy);
  await browser.submit(html, 'value="assistants"');

  // The ledger.
  const entries = new Map<string, Entry>();
  const bills: { id: string; dueOn: string; entry: Omit<Entry, "isDeleted">; isPaid: boolean }[] = [];
  const settlements: Settlement[] = [];
  const waiting: Waiting[] = [];
  const undoable: Done[] = [];
  const counts = { written: 0, approved: 0, refused: 0, withdrawn: 0, expired: 0, stale: 0, undone: 0 };
  let named = 0;
  const snapshot = (...ids: string[]) => JSON.stringify(ids.map((id) => entries.get(id)));
  const nothing = () => "";

  const record = (): Write => {
    const currency = chance.pick([...CURRENCIES, "EUR", "JPY"] as const);
    const minor = chance.int(1, LARGEST[currency]);
    const payer = chance.int(0, 3);
    const { shared, sharing } = drawSharing(chance, minor, currency, emails);
    let id = "";
    return {
      tool: "log_expenses",
      args: {
        items: [{
          ...{ name: `Item ${++named}`, amount: say(minor, currency), currency, date: today() },
          ...{ paid_by: emails[payer], shared },
        }],
      },
      moved: { sums: { [currency]: minor }, gone: 0 },
      found: nothing,
      apply: ({ results }) => {
        id = results[0].id;
        entries.set(id, { minor, currency, payer, sharing, isDeleted: false });
      },
      revert: () => void entries.set(id, { ...entries.get(id)!, isDeleted: true }),
      left: () => snapshot(id),
    };
  };

  const expense = (): [string, Entry] | undefined =>
    chance.pick([undefined, ...[...entries].filter(([id, { isDeleted }]) => id.startsWith("exp_") && !isDeleted)]);

  const correct = (): Write | undefined => {
    const [id, before] = expense() ?? [];
    if (!id || !before) return undefined;
    const minor = chance.int(1, LARGEST[before.currency]);
    const { shared, sharing } = drawSharing(chance, minor, before.currency, emails);
    const isPassedOn = JSON.stringify(sharing) !== JSON.stringify(before.sharing);
    if (!isPassedOn && minor === before.minor) return undefined;
    return {
      tool: "update_expenses",
      args: { ids: [id], set: { amount: say(minor, before.currency), shared } },
      moved: {
        sums: { [before.currency]: isPassedOn ? minor + before.minor : Math.abs(minor - before.minor) },
        gone: 0,
      },
      found: () => snapshot(id),
      apply: () => void entries.set(id, { ...before, minor, sharing }),
      revert: () => void entries.set(id, before),
      left: () => snapshot(id),
    };
  };

  const passOn = (): Write | undefined => {
    const [id, before] = expense() ?? [];
    if (!id || !before) return undefined;
    const payer = (before.payer + chance.int(1, 3)) % 4;
    return {
      tool: "update_expenses",
      args: { ids: [id], set: { paid_by: emails[payer] } },
      moved: { sums: { [before.currency]: 2 * before.minor }, gone: 0 },
      found: () => snapshot(id),
      apply: () => void entries.set(id, { ...before, payer }),
      revert: () => void entries.set(id, before),
      left: () => snapshot(id),
    };
  };

  const remove = (): Write | undefined => {
    const drawn = [expense(), ...(chance.oneIn(3) ? [expense()] : [])].filter((one) => one !== undefined);
    const all = new Map(drawn);
    if (all.size === 0) return undefined;
    const ids = [...all.keys()];
    const sums: Moved["sums"] = {};
    for (const { currency, minor } of all.values()) sums[currency] = (sums[currency] ?? 0) + minor;
    return {
      tool: "delete_records",
      args: { ids },
      moved: { sums, gone: all.size },
      found: () => snapshot(...ids),
      apply: () => all.forEach((before, id) => entries.set(id, { ...before, isDeleted: true })),
      revert: () => all.forEach((before, id) => entries.set(id, before)),
      left: () => snapshot(...ids),
    };
  };

  const owedNow = () => balancesOf(entries.values(), settlements);
  /** Settles a debt: the whole current balance, or a part. */
  const settle = (who: Person): Write | undefined => {
    const own = told(owedNow()).map((line) => line.split(" "))
      .filter(([from, to]) => who.role !== "member" || [from, to].includes(String(who.index)));
    const drawn = chance.pick([undefined, ...own]);
    if (!drawn) return undefined;
    const [from, to] = [Number(drawn[0]), Number(drawn[1])];
    const currency = drawn[3] as Entry["currency"];
    const key = `${Math.min(from, to)} ${Math.max(from, to)} ${currency}`;
    const all = Math.abs(owedNow().get(key)!);
    const isAll = chance.oneIn(2);
    const minor = isAll ? all : chance.int(1, all);
    let settlement: Settlement;
    return {
      tool: "settle_up",
      args: {
        ...{ from: emails[from], to: emails[to], currency, on_duplicate: "allow" },
        ...(!isAll && { amount: say(minor, currency) }),
      },
      moved: { sums: { [currency]: minor }, gone: 0 },
      found: () => isAll ? `${owedNow().get(key)}` : "",
      apply: () => void settlements.push(settlement = { from, to, minor, currency }),
      revert: () => void settlements.splice(settlements.indexOf(settlement), 1),
      left: () => `${settlements.includes(settlement)}`,
    };
  };

  const addBill = (): Write => {
    const currency = chance.pick(CURRENCIES);
    const minor = chance.int(1, LARGEST[currency]);
    const payer = chance.int(0, 3);
    const { shared, sharing } = drawSharing(chance, minor, currency, emails);
    const dueOn = plus(today(), chance.int(0, 5));
    return {
      tool: "add_bill",
      args: {
        ...{ name: `Bill ${++named}`, amount: say(minor, currency), currency, first_due: dueOn, frequency: "yearly" },
        ...{ paid_by: emails[payer], shared },
      },
      moved: { sums: { [currency]: minor }, gone: 0 },
      found: nothing,
      apply: ({ bill }) =>
        void bills.push({ id: bill.id, dueOn, entry: { minor, currency, payer, sharing }, isPaid: false }),
    };
  };

  const pay = (): Write | undefined => {
    const bill = chance.pick([undefined, ...bills.filter(({ isPaid }) => !isPaid)]);
    if (!bill) return undefined;
    const payer = chance.oneIn(3) ? chance.int(0, 3) : bill.entry.payer;
    let id = "";
    return {
      tool: "mark_bill_paid",
      args: { bill_id: bill.id, due_on: bill.dueOn, paid_by: emails[payer] },
      moved: { sums: { [bill.entry.currency]: bill.entry.minor }, gone: 0 },
      found: () => `${bill.isPaid}`,
      apply: ({ payment }) => {
        bill.isPaid = true;
        id = payment.id;
        entries.set(id, { ...bill.entry, payer, isDeleted: false });
      },
      revert: () => {
        bill.isPaid = false;
        entries.delete(id);
      },
      left: () => snapshot(id),
    };
  };

  const undo = (who: Person): Write | undefined => {
    const done = chance.pick([
      undefined,
      ...undoable.filter(({ by, on }) => by === who && on >= plus(today(), -UNDOABLE_DAYS)),
    ]);
    if (!done || done.write.left!() !== done.leftThen) return undefined;
    const { tool, moved } = done.write;
    const isNew = tool === "log_expenses" || tool === "settle_up" || tool === "mark_bill_paid";
    return {
      tool: "undo_change",
      args: { change_id: done.changeId },
      moved: { sums: moved.sums, gone: isNew ? 1 : 0 },
      found: done.write.left!,
      apply: () => {
        done.write.revert!();
        undoable.splice(undoable.indexOf(done), 1);
        counts.undone++;
      },
    };
  };

  /** The approver; undefined if the write needs none. */
  function approverOf({ role, written }: Person, moved: Moved): "manager" | "owner" | undefined {
    const total = written.with(clock(), moved);
    if (role === "manager") return exceeds(total.sums, MANAGERS_UP_TO) ? "owner" : undefined;
    if (role === "owner") return undefined;
    if (moved.gone > 0 && total.gone > 1) return "owner";
    return exceeds(total.sums, MEMBERS_UP_TO) ? "manager" : undefined;
  }

  const noteDone = (by: Person, changeId: string, write: Write) => {
    if (write.left) undoable.push({ by, on: today(), changeId, write, leftThen: write.left() });
  };

  /** Confirms a large deletion with the expected count and totals. */
  async function call(who: Person, { tool, args }: Write): Promise<Json> {
    const { envelope } = await who.call(tool, args);
    if (envelope.error?.code !== "confirmation_required") return envelope;
    return (await who.call(tool, { ...args, confirm: envelope.error.details.confirm })).envelope;
  }

  async function act(who: Person): Promise<void> {
    const write = chance.pick([record, record, record, correct, passOn, remove, settle, addBill, pay, pay, undo])(who);
    if (!write) return;
    const about = `${who.email} on ${at}: ${write.tool} ${JSON.stringify(write.args)}`;
    if (who.role === "viewer") {
      assertEquals((await call(who, write)).error.code, "forbidden_role", about);
      return;
    }
    const approver = approverOf(who, write.moved);
    if (!approver) {
      const envelope = await call(who, write);
      assert(envelope.ok, `${about}\n${JSON.stringify(envelope.error)}`);
      write.apply(envelope.data);
      noteDone(who, envelope.change_id, write);
      who.written.add(clock(), write.moved);
      counts.written++;
      return;
    }
    const { code, details } = (await call(who, write)).error;
    assertEquals([code, details?.asked], [
      "awaiting_approval",
      approver === "owner" ? [anna.email] : [anna.email, bo.email],
    ], about);
    if (waiting.some(({ id }) => id === details.proposal_id)) return;
    waiting.push({
      by: who,
      write,
      foundThen: write.found(),
      approver,
      id: details.proposal_id,
      since: at,
      isLeft: chance.oneIn(12),
    });
  }

  /** Attempts without the right to decide, which change nothing. */
  async function tryAll({ id, by, approver }: Waiting, hash: string): Promise<void> {
    const path = `/account/approvals/${id}`;
    for (const who of everybody.filter((one) => one !== by && ["member", "viewer"].includes(one.role))) {
      // The link reaches a person without the right to decide.
      assertEquals((await visit(who, path)).status, 404);
      const error = await who.fails("decide_proposal", { proposal_id: id, hash, decision: "approve" });
      assertEquals(error.code, who.role === "viewer" ? "forbidden_role" : "not_found");
    }
    const own = await by.fails("decide_proposal", { proposal_id: id, hash, decision: "approve" });
    assertEquals(own.code, "not_decided", JSON.stringify(own));
    if (approver === "owner" && by !== bo) {
      const { code } = await bo.fails("decide_proposal", { proposal_id: id, hash, decision: "approve" });
      assertEquals(code, "not_decided");
    }
  }

  async function answer(one: Waiting): Promise<void> {
    const { id, by, write, foundThen, approver } = one;
    waiting.splice(waiting.indexOf(one), 1);
    const decider = approver === "owner" ? anna : chance.pick([anna, bo]);
    const path = `/account/approvals/${id}`;
    // Every possible approver got a mail, whose link opens the page.
    const asked = letters.find(({ to, text }) => to === decider.email && text.includes(path));
    assert(asked, `no mail to ${decider.email} about ${id}, seed ${SEED}`);
    const { data: { proposals } } = await decider.ok("get_context");
    const listed = proposals.find((proposal: Json) => proposal.id === id);
    if (chance.oneIn(4)) await tryAll(one, listed?.hash ?? "0".repeat(64));

    const way = chance.int(0, 9);
    const decision = way < 6 ? "approve" : way < 8 ? "refuse" : "withdraw";
    const actor = decision === "withdraw" ? by : decider;
    const fits = write.found() === foundThen;
    const expected = decision === "approve"
      ? (fits ? "approved" : "stale")
      : decision === "refuse"
      ? "refused"
      : "withdrawn";
    let changeId: string | undefined;
    let data: Json;
    if (listed && chance.oneIn(2)) {
      const { envelope } = await actor.call("decide_proposal", { proposal_id: id, hash: listed.hash, decision });
      if (expected === "stale") {
        assertEquals([envelope.ok, envelope.error?.code], [false, "not_decided"], JSON.stringify(envelope));
      } else {
        assertEquals([envelope.data?.state], [expected], JSON.stringify([envelope, write]));
        [changeId, data] = [envelope.change_id, envelope.data.written];
      }
    } else {
      const page = await visit(actor, path);
      const pressed = await page.browser.submit(page.html, 'name="hash"', { decision });
      assertEquals([pressed.status, pressed.headers.get("location")?.split("?")[0]], [303, path]);
      // A double click counts once.
      await page.browser.submit(page.html, 'name="hash"', { decision });
    }
    const [kept] = await database.query<{ state: string; change_id: string; data: Json }>(
      "select state, change_id, result -> 'data' as data from app.proposals where id = $1",
      [id],
    );
    assertEquals(kept!.state, expected, `${by.email} ${write.tool} ${JSON.stringify(write.args)} found ${foundThen}`);
    counts[expected]++;
    if (expected !== "approved") return;
    write.apply(data ?? kept!.data);
    noteDone(by, changeId ?? kept!.change_id, write);
  }

  /** Page and tool give each person the same answer. */
  async function compare(): Promise<void> {
    const owed = owedNow();
    for (const who of everybody) {
      const about = `${who.email} on ${today()}, seed ${SEED}`;
      const { data } = await who.ok("get_context", { include: ["balances"] });
      assertEquals(
        data.balances.map(({ from, to, amount, currency }: Json) =>
          `${emails.indexOf(from)} ${emails.indexOf(to)} ${amount} ${currency}`
        ).toSorted(),
        told(owed),
        about,
      );
      const sums: Record<string, number> = {};
      let count = 0;
      for (const { currency, minor, isDeleted } of entries.values()) {
        if (isDeleted) continue;
        sums[currency] = (sums[currency] ?? 0) + minor;
        count++;
      }
      const listed = await who.ok("list_expenses", { from: "2026-10-01", to: "2026-12-31", limit: 1 });
      assertEquals([listed.total_count, listed.totals_by_currency], [
        count,
        Object.fromEntries(Object.entries(sums).map(([currency, minor]) => [currency, say(minor, currency)])),
      ], about);
    }
    const reader = chance.pick(everybody);
    const { html } = await visit(reader, `/books?organization=${organizationId}`);
    const section = /<section id="balances">(.*?)<\/section>/s.exec(html)?.[1] ?? "";
    assertEquals([...section.matchAll(/<li\b/g)].length, owed.size);
    const digits = section.replace(/<[^>]*>/g, " ").replaceAll(/[,.\s\u00a0]/g, "");
    for (const minor of owed.values()) assertStringIncludes(digits, String(Math.abs(minor)));
  }

  const firstDigests = new Set<string>();
  /** The first digest of a month lists its reader's debts and claims. */
  function readDigests(mails: typeof mail.delivered): void {
    const owed = told(owedNow()).map((line) => line.split(" ") as [string, string, string, string]);
    for (const { to, text } of mails) {
      const about = `${to} on ${at}, seed ${SEED}:\n${text}`;
      const me = String(emails.indexOf(to));
      const own = owed.filter(([from, other]) => from === me || other === me);
      const month = `${to} ${at.slice(0, 7)}`;
      assertEquals(text.includes("Shared costs"), own.length > 0 && !firstDigests.has(month), about);
      firstDigests.add(month);
      if (!text.includes("Shared costs")) continue;
      for (const [from, other, amount, currency] of own) {
        const line = text.split("\n").find((one) =>
          one.includes(from === me ? `You owe ${emails[Number(other)]}` : `${emails[Number(from)]} owes you`) &&
          one.includes(currency === "EUR" ? "€" : currency === "JPY" ? "¥" : currency)
        );
        assertStringIncludes(line?.replaceAll(",", "") ?? "", amount, about);
      }
    }
  }

  for (const day of range("2026-10-01", "2026-12-31")) {
    await Promise.all(afterAnswers.splice(0));
    at = `${day}T08:00:00Z`;
    const before = mail.delivered.length;
    await job.run();
    readDigests(mail.delivered.slice(before));
    // The proposer of an expired proposal gets a mail.
    for (const one of [...waiting].filter(({ since }) => Date.parse(at) - Date.parse(since) >= 7 * 86_400_000)) {
      assertEquals(await decideLate(one), "expired");
      assert(
        letters.some(({ to, subject, text }) =>
          to === one.by.email && subject.startsWith("Expired: ") && text.includes(one.id)
        ),
      );
      waiting.splice(waiting.indexOf(one), 1);
      counts.expired++;
    }
    for (const one of [...waiting]) if (!one.isLeft && !chance.oneIn(2)) await answer(one);
    let minute = 0;
    for (let n = chance.int(1, 5); n > 0; n--) {
      at = `${day}T12:${String(minute++).padStart(2, "0")}:00Z`;
      await act(chance.pick(everybody));
    }
    if (dayOfMonth(day) % 7 === 0) await compare();
  }
  async function decideLate({ id, approver }: Waiting): Promise<string> {
    const decider = approver === "owner" ? anna : bo;
    const { outcome } = await database.asService<Json>("decide_proposal", {
      ...{ user_id: decider.userId, proposal_id: id, hash: "0", decision: "approve", at },
    });
    return outcome;
  }
  await compare();
  assertFalse(Object.values(counts).includes(0), `a quiet quarter, seed ${SEED}: ${JSON.stringify(counts)}`);
  assertEquals(firstDigests.size, 3 * everybody.length);

  const [, , dora, emil] = people as [Person, Person, Person, Person];
  /** The mornings of these days: the job's mails. */
  async function mornings(from: string, to: string): Promise<typeof mail.delivered> {
    const before = mail.delivered.length;
    for (const day of range(from, to)) {
      at = `${day}T08:00:00Z`;
      await job.run();
    }
    return mail.delivered.slice(before);
  }
  await database.query("update identity.memberships set mails = 'mine' where organization_id = $1", [organizationId]);

  // A member gets reminders of the bill that she adds.
  at = "2027-01-02T12:00:00Z";
  const { data: { bill } } = await dora.ok("add_bill", {
    ...{ name: "Piano lessons", amount: "12.00", currency: "EUR", first_due: "2027-01-09", frequency: "monthly" },
    remind_days_before: 3,
  });
  assertEquals(bill.assignee, dora.email);
  const reminders = (await mornings("2027-01-03", "2027-01-06")).filter(({ text }) => text.includes("Piano lessons"));
  assertEquals(reminders.map(({ to }) => to).toSorted(), [anna.email, dora.email], reminders[0]?.text);

  // Emil, who has debts, claims and a pending proposal, is removed. The page lists all of these, he gets a mail, and
  // his debts can be settled under the address that the balances show.
  at = "2027-01-06T12:00:00Z";
  const { details } = await emil.fails("log_expenses", {
    items: [{ name: "Ladder", amount: "250.00", currency: "EUR" }],
  });
  const removal = await visit(anna, `/organizations/${organizationId}/members/remove?member=${emil.userId}`);
  assertStringIncludes(removal.html, `/account/approvals/${details.proposal_id}`);
  const own = told(owedNow()).map((line) => line.split(" ")).filter(([from, to]) => [from, to].includes("3"));
  assert(own.length > 1);
  const digits = removal.html.replaceAll(/<[^>]*>/g, " ").replaceAll(",", "");
  for (const [from, , amount] of own) {
    assertStringIncludes(digits, amount!);
    assertStringIncludes(digits, from === "3" ? "They owe" : "owes them");
  }
  const { status } = await removal.browser.submit(removal.html, 'class="danger"');
  assertEquals(status, 303);
  const letter = pages.mails.at(-1)!;
  assertEquals([letter.to, letter.subject], [emil.email, "You were removed from “Elm Street”"]);
  for (const [, , amount] of own) assertStringIncludes(letter.text.replaceAll(",", ""), amount!);
  const [[from, to, amount, currency]] = own as [[string, string, string, string]];
  const settling = { from: emails[Number(from)], to: emails[Number(to)], amount, currency, on_duplicate: "allow" };
  await anna.ok("settle_up", settling);
  assertFalse(
    (await anna.ok("get_context", { include: ["balances"] })).data.balances.some((one: Json) =>
      [one.from, one.to, one.currency].join() === [settling.from, settling.to, currency].join()
    ),
  );

  // The trial ends. The mails before and on that day name the day and the bills due afterwards; then the mails stop.
  await database.query(
    "update identity.organizations set plan = 'free', trial_ends_at = '2027-01-14T12:00:00Z' where id = $1",
    [organizationId],
  );
  const last = (await mornings("2027-01-07", "2027-01-31")).filter(({ to }) => to === dora.email);
  const ending = "Reminders for “Elm Street” will stop";
  assertEquals(last.map(({ text }) => text.split("\n")[2]), [
    `“Piano lessons” has been overdue since 9 January. ${ending} on 14 January.`,
    `“Piano lessons” has been overdue since 9 January. ${ending} today.`,
  ]);
  for (const { text } of last) {
    assertStringIncludes(text, "From then on, we send no reminders and assistants can’t read or change anything.");
    assertStringIncludes(text, "Due after that:\n  Piano lessons: Tuesday, 9 February · €12.00");
  }
});
