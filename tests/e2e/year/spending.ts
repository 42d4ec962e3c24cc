/** One evening: a person reports today's and recent spending, and corrects mistakes. */
import { assertEquals } from "@std/assert";
import type { Assistant } from "./client.ts";
import { plus } from "./days.ts";
import type { Entry } from "./ledger.ts";
import { decimalsOf, say } from "./money.ts";
import type { Organization } from "./organization.ts";

/** The purchases of an organization's people. */
export interface Habits {
  goods: { name: string; payee?: string; category: string }[];
  /** Their currencies, most frequent first. */
  currencies: string[];
  tags: string[];
}

/** Recent entries, which later steps undo, change or delete. */
interface Logged {
  who: Assistant;
  change: string;
  items: { id: string; key: string }[];
}

export class Spending {
  #logged: Logged[] = [];

  constructor(readonly organization: Organization, readonly habits: Habits) {}

  async evening(): Promise<void> {
    const { chance } = this.organization.options;
    if (chance.oneIn(3)) await this.log(this.organization.someone(), chance.int(1, 4));
    if (chance.oneIn(12)) await this.changeSomething();
    if (chance.oneIn(25)) await this.undoLatest();
    if (chance.oneIn(30)) await this.deleteSomething();
  }

  /** One call for all purchases. @param when in the person's words; by default a day of their calendar */
  async log(who: Assistant, count: number, when?: { said?: string; day: string }): Promise<void> {
    const entries = Array.from({ length: count }, () => this.#purchase(who, when?.day));
    const { data, change_id } = await who.ok("log_expenses", {
      on_duplicate: "allow",
      items: entries.map(({ date, name, minor, currency, category, payee, tags, isRefund, charged }) => ({
        name,
        amount: say(minor, currency),
        currency,
        category,
        ...(!when && { date }),
        ...(when?.said && { date: when.said }),
        ...(payee && { payee }),
        ...(tags && { tags }),
        ...(isRefund && { is_refund: true }),
        ...(charged !== undefined && { charged: { amount: say(charged, this.organization.ledger.base) } }),
      })),
    });
    assertEquals(data.results.map(({ date }: { date: string }) => date), entries.map(({ date }) => date));
    const items = entries.map((entry, index) => ({
      id: data.results[index].id,
      key: this.organization.ledger.add(entry),
    }));
    this.#logged.push({ who, change: change_id, items });
  }

  #purchase(who: Assistant, day?: string): Entry {
    const { chance, ledger } = this.organization.options;
    const { goods, currencies, tags } = this.habits;
    const currency = chance.oneIn(4) ? chance.pick(currencies) : currencies[0]!;
    const unit = 10 ** decimalsOf(currency) * (currency === "JPY" ? 100 : 1);
    const minor = chance.int(unit, unit * 90);
    return {
      ...chance.pick(goods),
      date: day ?? plus(this.organization.today(), -chance.pick([0, 0, 0, 1, 2, 5])),
      minor,
      currency,
      member: who.email,
      ...(chance.oneIn(5) && { tags: [chance.pick(tags)] }),
      ...(chance.oneIn(15) && { isRefund: true }),
      ...(currency !== ledger.base && chance.oneIn(4) && { charged: chance.int(500, 9_000) }),
    };
  }

  /** An amount, a day or a category was wrong. */
  async changeSomething(): Promise<void> {
    const { chance, ledger } = this.organization.options;
    const one = this.#pickOne();
    if (!one) return;
    const { currency, minor } = ledger.get(one.key);
    const change: Partial<Entry> = chance.pick([
      { minor: minor + chance.int(1, 99) },
      { date: plus(this.organization.today(), -chance.int(0, 20)) },
      { category: chance.pick(this.habits.goods).category },
    ]);
    await this.organization.someone().ok("update_expenses", {
      ids: [one.id],
      set: {
        ...(change.minor && { amount: say(change.minor, currency) }),
        ...(change.date && { date: change.date }),
        ...(change.category && { category: change.category }),
      },
    });
    ledger.change(one.key, change);
  }

  /** Undoes the last entry as a whole; a repeated call changes nothing. */
  async undoLatest(): Promise<void> {
    await this.log(this.organization.someone(), 2);
    const { who, items, change } = this.#logged.pop()!;
    await who.ok("undo_change");
    await who.fails("already_undone", "undo_change");
    await who.fails("already_undone", "undo_change", { change_id: change });
    for (const { key } of items) this.organization.ledger.remove(key);
  }

  async deleteSomething(): Promise<void> {
    const one = this.#pickOne();
    if (!one) return;
    await this.organization.someone().ok("delete_records", { ids: [one.id] });
    this.organization.ledger.remove(one.key);
    for (const logged of this.#logged) logged.items = logged.items.filter(({ id }) => id !== one.id);
  }

  #pickOne(): { id: string; key: string } | undefined {
    const items = this.#logged.slice(-10).flatMap(({ items }) => items);
    return items.length > 0 ? this.organization.options.chance.pick(items) : undefined;
  }
}
