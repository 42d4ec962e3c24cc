/**
 * An in-memory model of the books: payments, bills, closed due dates, and every write as lines before and after it. It
 * has no knowledge of schedules.
 */

/** Net minor units by currency. */
export type Balances = Record<string, number>;

/** Money that moved. A line without an amount is a bill, or a paid or skipped date of one. */
export interface Line {
  minor: number;
  currency: string;
  /** The bill that a payment or date belongs to, and the date. */
  bill?: string;
  due?: string;
  closed?: "paid" | "skipped";
}

/** Lines by id. */
export type Page = Map<string, Line>;

interface Change {
  before: ReadonlyMap<string, Line>;
  after: ReadonlyMap<string, Line>;
  isUndone: boolean;
  undoes?: string;
}

export class BooksModel {
  #page: ReadonlyMap<string, Line> = new Map();
  #changes = new Map<string, Change>();

  /** Records a write under its change id; `work` gets a page to write on. */
  write(changeId: string, work: (page: Page) => void): void {
    const after = new Map(this.#page);
    work(after);
    this.#changes.set(changeId, { before: this.#page, after, isUndone: false });
    this.#page = after;
  }

  /** Undoes a change: exactly its lines, regardless of later changes elsewhere. */
  undo(changeId: string, undoId: string): void {
    const target = this.#changes.get(changeId)!;
    const after = new Map(this.#page);
    for (const id of new Set([...target.before.keys(), ...target.after.keys()])) {
      const [was, became] = [target.before.get(id), target.after.get(id)];
      if (was === became) continue;
      if (was) after.set(id, was);
      else after.delete(id);
    }
    target.isUndone = true;
    this.#changes.set(undoId, { before: this.#page, after, isUndone: false, undoes: changeId });
    // Undoing an undo restores the removed lines.
    for (let id = target.undoes, isUndone = false; id; isUndone = !isUndone) {
      const change = this.#changes.get(id)!;
      change.isUndone = isUndone;
      id = change.undoes;
    }
    this.#page = after;
  }

  /** Whether no line of a change has changed since then; only then must an undo work. */
  canUndo(changeId: string): boolean {
    const { before, after, isUndone } = this.#changes.get(changeId)!;
    if (isUndone) return false;
    return [...new Set([...before.keys(), ...after.keys()])].every((id) =>
      before.get(id) === after.get(id) || this.#page.get(id) === after.get(id)
    );
  }

  /** Whether undoing a change would undo an undo. */
  isUndo(changeId: string): boolean {
    return this.#changes.get(changeId)!.undoes !== undefined;
  }

  changeIds(): string[] {
    return [...this.#changes.keys()];
  }

  find(id: string): Line | undefined {
    return this.#page.get(id);
  }

  /** Ids of the existing expenses (`exp`), bill payments (`pay`), bills (`bill`) or closed dates (`date`). */
  ids(kind: "exp" | "pay" | "bill" | "date"): string[] {
    return [...this.#page.keys()].filter((id) => id.startsWith(`${kind}_`));
  }

  /** Amount paid for a date of a bill. */
  paid(bill: string, due: string): number {
    return this.ids("pay").map((id) => this.find(id)!).filter((line) => line.bill === bill && line.due === due)
      .reduce((sum, { minor }) => sum + minor, 0);
  }

  balances(): Balances {
    const sums: Balances = {};
    for (const { minor, currency } of this.#page.values()) sums[currency] = (sums[currency] ?? 0) + minor;
    return Object.fromEntries(Object.entries(sums).filter(([, minor]) => minor !== 0));
  }
}
