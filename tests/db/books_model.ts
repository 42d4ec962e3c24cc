/** The books as a person would keep them on paper: what was paid, by currency, and every write as the pages before and after it. */

/** Net minor units by currency. */
export type Balances = Record<string, number>;

interface Payment {
  minor: number;
  currency: string;
}

/** What is in the books: payments by the id under which they are found again. */
type Page = ReadonlyMap<string, Payment>;

interface Change {
  before: Page;
  after: Page;
  isUndone: boolean;
  undoes?: string;
}

export class BooksModel {
  #page: Page = new Map();
  #changes = new Map<string, Change>();

  /** Notes a write under its change id; `work` gets a page to write on. */
  write(changeId: string, work: (page: Map<string, Payment>) => void): void {
    const after = new Map(this.#page);
    work(after);
    this.#changes.set(changeId, { before: this.#page, after, isUndone: false });
    this.#page = after;
  }

  /** Takes a change back: exactly the lines it wrote, whatever was written elsewhere since. */
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
    // What an undo had undone stands again when it is undone itself.
    for (let id = target.undoes, isUndone = false; id; isUndone = !isUndone) {
      const change = this.#changes.get(id)!;
      change.isUndone = isUndone;
      id = change.undoes;
    }
    this.#page = after;
  }

  /** Whether nothing has touched the lines of a change since: an undo must work then, and must not otherwise. */
  canUndo(changeId: string): boolean {
    const { before, after, isUndone } = this.#changes.get(changeId)!;
    if (isUndone) return false;
    return [...new Set([...before.keys(), ...after.keys()])].every((id) =>
      before.get(id) === after.get(id) || this.#page.get(id) === after.get(id)
    );
  }

  changeIds(): string[] {
    return [...this.#changes.keys()];
  }

  find(id: string): Payment | undefined {
    return this.#page.get(id);
  }

  ids(): string[] {
    return [...this.#page.keys()];
  }

  balances(): Balances {
    const sums: Balances = {};
    for (const { minor, currency } of this.#page.values()) sums[currency] = (sums[currency] ?? 0) + minor;
    return Object.fromEntries(Object.entries(sums).filter(([, minor]) => minor !== 0));
  }
}
