/** People report payments, each to their own assistant. The ledger records their reports, never the answers. */
import { assertEquals } from "@std/assert";
import { type Json } from "../connector_harness.ts";
import { Bill, type Plan } from "./bills.ts";
import type { Assistant } from "./client.ts";
import { type Chance, localDay, plus } from "./days.ts";
import type { Ledger } from "./ledger.ts";
import { MailRule } from "./mail_rule.ts";
import { say } from "./money.ts";

export interface OrganizationOptions {
  id: string;
  name: string;
  timezone: string;
  ledger: Ledger;
  /** The owner comes first. */
  people: Assistant[];
  clock: () => Date;
  chance: Chance;
}

interface Payment {
  /** Without an amount, they report only that the bill is paid. */
  dueOn?: string;
  minor?: number;
  /** In the base currency. */
  charged?: number;
  paidOn?: string;
  advance?: boolean;
}

export class Organization {
  readonly bills: Bill[] = [];
  readonly rule = new MailRule(() => this.bills);

  constructor(readonly options: OrganizationOptions) {}

  get ledger() {
    return this.options.ledger;
  }
  get owner() {
    return this.options.people[0]!;
  }
  /** The owner's calendar day applies to everybody. */
  today = (): string => localDay(this.options.clock(), this.options.timezone);
  bill = (name: string): Bill => this.bills.find(({ plan }) => plan.name === name)!;
  someone = (): Assistant => this.options.chance.pick(this.options.people);

  /** The calendar's effect: past dates of automatic bills are in the books. */
  charge(): void {
    for (const bill of this.bills) bill.charge(this.today(), this.ledger);
  }

  async addBill(plan: Plan): Promise<Bill> {
    const { name, category, payee, currency, minor, autopay, lead, again, trialEnds, contract } = plan;
    const { data } = await this.owner.ok("add_bill", {
      name,
      category,
      currency,
      ...(payee && { payee }),
      amount_mode: plan.isEstimated ? "estimated" : minor === null ? "variable" : "fixed",
      ...(minor !== null && { amount: say(minor, currency) }),
      ...(autopay && { autopay }),
      ...(lead !== undefined && { remind_days_before: lead }),
      ...(again && { remind_again: again }),
      ...(trialEnds && { trial_ends_on: trialEnds }),
      ...(contract && { renews_on: contract.renewsOn, notice_days: contract.noticeDays }),
      ...plan.said,
    });
    const bill = new Bill(plan, this.today());
    bill.id = data.bill.id;
    assertEquals(data.next_dates, bill.dates.slice(0, 3).map(({ on }) => on), name);
    this.bills.push(bill);
    return bill;
  }

  /** "The rent is paid." */
  async pay(name: string, who: Assistant, payment: Payment = {}): Promise<string> {
    this.charge();
    const { plan, ...bill } = this.bill(name);
    const { minor, paidOn = this.today(), charged } = payment;
    // On a due day, the payment is for that day's date, even if an earlier one is open.
    const open = this.bill(name).open();
    const dueOn = payment.dueOn ?? (open.find(({ on }) => on === paidOn) ?? open[0]!).on;
    const { data, change_id, warnings } = await who.ok("mark_bill_paid", this.#said(name, payment));
    const forgotten = payment.dueOn ? [] : open.filter(({ on }) => on < dueOn);
    const said = warnings.find(({ code }: Json) => code === "overdue")?.message ?? "";
    for (const { on } of forgotten) assertEquals([said.includes(dueOn), said.includes(on)], [true, true], said);
    assertEquals([data.bill_id, data.occurrence.due_on, data.payment.paid_on], [bill.id, dueOn, paidOn], name);
    this.bill(name).pay(this.ledger, { dueOn, paidOn, minor, member: who.email });
    if (charged !== undefined) this.ledger.change(this.ledger.paymentOf(plan.name, dueOn)!, { charged });
    return change_id;
  }

  /** "The rent is paid", reported again: the answer names the payer, and nothing is recorded. */
  async payAgain(name: string, who: Assistant): Promise<void> {
    const paid = this.bill(name).dates.findLast(({ status }) => status === "paid")!;
    const { message } = await who.fails("already_paid", "mark_bill_paid", { bill_name: name.toLowerCase() });
    assertEquals(message.includes(`due ${paid.on}`), true, message);
  }

  /** Corrects the payment for a date. */
  async correct(name: string, who: Assistant, { dueOn, minor }: { dueOn: string; minor: number }): Promise<string> {
    this.charge();
    const { change_id } = await who.ok("mark_bill_paid", this.#said(name, { dueOn, minor }));
    const date = this.bill(name).at(dueOn);
    date.minor = minor;
    date.isEstimate = false;
    this.ledger.change(this.ledger.paymentOf(name, dueOn)!, { minor });
    return change_id;
  }

  #said(name: string, { dueOn, minor, charged, paidOn, advance }: Payment): Record<string, unknown> {
    const { currency } = this.bill(name).plan;
    return {
      bill_name: name.toLowerCase(),
      ...(dueOn && { due_on: dueOn }),
      ...(minor !== undefined && { amount: say(minor, currency) }),
      ...(charged !== undefined && { charged: { amount: say(charged, this.ledger.base) } }),
      ...(paidOn && { paid_on: paidOn }),
      ...(advance && { advance }),
    };
  }

  /** A payment is undone, which reopens its date. */
  async takeBack(name: string, who: Assistant, { dueOn, change }: { dueOn: string; change: string }): Promise<void> {
    await who.ok("undo_change", { change_id: change });
    this.bill(name).at(dueOn).status = "open";
    this.ledger.remove(this.ledger.paymentOf(name, dueOn)!);
  }

  async skip(name: string, who: Assistant, dueOn: string): Promise<void> {
    await who.ok("update_bill", { bill_id: this.bill(name).id, occurrence: { due_on: dueOn, action: "skip" } });
    this.bill(name).at(dueOn).status = "skipped";
  }

  async snooze(name: string, who: Assistant, { dueOn, days }: { dueOn: string; days: number }): Promise<void> {
    const until = plus(this.today(), days);
    const occurrence = { due_on: dueOn, action: "snooze", snooze_until: until };
    await who.ok("update_bill", { bill_id: this.bill(name).id, occurrence });
    this.bill(name).at(dueOn).snoozedUntil = until;
  }

  /** "Pause it": the answer asks about open dates. */
  async pause(name: string, who: Assistant): Promise<void> {
    const bill = this.bill(name);
    const open = bill.overdue(this.today());
    const { warnings } = await who.ok("update_bill", { bill_id: bill.id, set: { status: "paused" } });
    const said = warnings.find(({ code }: Json) => code === "still_open")?.message ?? "";
    for (const { on, minor } of open) {
      assertEquals([said.includes(on), said.includes(say(minor!, bill.plan.currency))], [true, true], said);
    }
    assertEquals(/skip (it|them), or still to be paid\?/.test(said), open.length > 0, said);
    bill.pause(this.today());
  }

  async resume(name: string, who: Assistant): Promise<void> {
    await who.ok("update_bill", { bill_id: this.bill(name).id, set: { status: "active" } });
    this.bill(name).resume(this.today());
  }

  /** A new price from its next open date on. */
  async reprice(name: string, who: Assistant, minor: number): Promise<Json> {
    this.charge();
    const bill = this.bill(name);
    const { data } = await who.ok("update_bill", { bill_id: bill.id, set: { amount: say(minor, bill.plan.currency) } });
    bill.reprice(bill.next(this.today())!.on, minor);
    return data;
  }
}
