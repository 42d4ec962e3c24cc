/** A bill in the test's model: open dates, costs and statements. */
import { dueDates, type IsScheduled } from "./schedule.ts";
import type { Ledger } from "./ledger.ts";

export interface Plan {
  name: string;
  currency: string;
  category: string;
  payee?: string;
  schedule: IsScheduled;
  weekend?: "before" | "after";
  /** The first and the last possible date. */
  from?: string;
  until?: string;
  /** Null if each date has its own amount. */
  minor: number | null;
  isEstimated?: boolean;
  autopay?: boolean;
  /** Lead times in days: the first one and the later ones. */
  lead?: number;
  again?: number[];
  trialEnds?: string;
  contract?: { renewsOn: string; noticeDays: number; termMinor: number };
  /** Due once a year, except for the first time. */
  comesAgain?: boolean;
  /** Further arguments of `add_bill`: the schedule in a model's form. */
  said: Record<string, unknown>;
}

interface DueDate {
  on: string;
  status: "open" | "paid" | "skipped";
  minor: number | null;
  snoozedUntil?: string;
  isEstimate?: boolean;
}

export class Bill {
  readonly dates: DueDate[];
  /** The first date with the higher price, and the price before it. */
  rise?: { on: string; from: number; to: number };
  id = "";

  constructor(readonly plan: Plan, addedOn: string) {
    const { schedule, from = addedOn, until, weekend, minor } = plan;
    this.dates = dueDates(schedule, { from, until, weekend }).map((on) => ({ on, status: "open", minor }));
  }

  at = (on: string): DueDate => this.dates.find((date) => date.on === on)!;
  open = (): DueDate[] => this.dates.filter(({ status }) => status === "open");
  #paused: DueDate[] = [];
  /** Earlier dates stay due; later ones are no longer expected. */
  pause(today: string): void {
    this.#paused = this.dates.filter(({ on, status }) => status === "open" && on >= today);
    this.dates.splice(0, Infinity, ...this.dates.filter((date) => !this.#paused.includes(date)));
  }
  resume(today: string): void {
    this.dates.push(...this.#paused.filter(({ on }) => on >= today));
    this.#paused = [];
  }
  get isPaused(): boolean {
    return this.#paused.length > 0;
  }
  /** The next due date. */
  next = (today: string): DueDate | undefined => this.open().find(({ on }) => on >= today);
  /** The dates that should have been paid, except dates whose amount is unknown. */
  overdue = (today: string): DueDate[] =>
    this.open().filter(({ on, minor }) => on < today && !(this.plan.autopay && minor === null));

  /** Automatic charges that change once their real amount is known. */
  estimates = (): DueDate[] => this.dates.filter(({ status, isEstimate }) => status === "paid" && isEstimate);
  /** Automatic charges of an unknown amount. */
  awaited = (today: string): DueDate[] =>
    this.open().filter(({ on, minor }) => this.plan.autopay && on < today && minor === null);

  /** A new price from a date on. */
  reprice(from: string, minor: number): void {
    this.rise = { on: from, from: this.plan.minor!, to: minor };
    for (const date of this.open()) if (date.on >= from) date.minor = minor;
  }

  /** The books contain an automatic charge on the day after, with its due date. */
  charge(today: string, ledger: Ledger): void {
    if (!this.plan.autopay) return;
    for (const date of this.open().filter(({ on }) => on < today)) {
      const known = date.minor ?? this.dates.findLast(({ on, minor }) => on < date.on && minor !== null)?.minor ?? null;
      if (known === null) continue;
      date.isEstimate = date.minor === null || this.plan.isEstimated;
      date.minor = known;
      this.pay(ledger, { dueOn: date.on, paidOn: date.on });
    }
  }

  pay(
    ledger: Ledger,
    { dueOn, paidOn, minor, member }: { dueOn: string; paidOn: string; minor?: number; member?: string },
  ): void {
    const { name, currency, category, payee } = this.plan;
    const date = this.at(dueOn);
    date.status = "paid";
    date.minor ??= minor ?? null;
    ledger.add({
      date: paidOn,
      name,
      minor: minor ?? date.minor!,
      currency,
      category,
      payee,
      member,
      bill: { name, dueOn },
    });
  }

  /** A statement provides the real amount of a month's date. */
  state(dueOn: string, minor: number, ledger: Ledger): void {
    const date = this.at(dueOn);
    date.minor = minor;
    const key = ledger.paymentOf(this.plan.name, dueOn);
    if (key && date.isEstimate) ledger.change(key, { minor });
    date.isEstimate = false;
  }
}
