/**
 * A client's own books: confirmed writes, and unknown ones whose response was lost. It never queries the service.
 * Every record has a unique name.
 */

export interface Fact {
  minor: number;
  currency: string;
}
export interface Row extends Fact {
  name: string;
}

/** The possible rows under a name, null for no row; several while the state is unknown. */
type Possible = (Fact | null)[];

export class Books {
  #entries = new Map<string, Possible>();
  /** Ids from the answers. */
  readonly ids = new Map<string, string>();
  /** Written by one call whose response was lost, so either all of them exist or none. */
  #unsureTogether: string[][] = [];

  set(name: string, fact: Fact): void {
    this.#entries.set(name, [fact]);
  }
  remove(name: string): void {
    this.#entries.set(name, [null]);
  }
  /** A change with an unknown outcome: the earlier state, or this one. */
  doubt(changes: ReadonlyMap<string, Fact | null>): void {
    for (const [name, fact] of changes) {
      this.#entries.set(name, [...this.#entries.get(name) ?? [null], fact]);
    }
    if (changes.size > 1) this.#unsureTogether.push([...changes.keys()]);
  }

  /** The certain rows. */
  get certain(): Row[] {
    return [...this.#entries].flatMap(([name, possible]) =>
      possible.length === 1 && possible[0] ? [{ name, ...possible[0] }] : []
    );
  }
  get isCertain(): boolean {
    return [...this.#entries.values()].every(({ length }) => length === 1);
  }
  get(name: string): Fact | undefined {
    const possible = this.#entries.get(name);
    return possible?.length === 1 ? possible[0] ?? undefined : undefined;
  }

  /** Whether a row may exist. */
  allows = ({ name, minor, currency }: Row): boolean =>
    this.#entries.get(name)?.some((fact) => fact?.minor === minor && fact.currency === currency) ?? false;

  /**
   * Compares with all stored rows.
   * @returns the faults: lost, changed, unknown, doubled or half. Resolves uncertain changes
   */
  compare(rows: readonly Row[]): string[] {
    const problems: string[] = [];
    const there = new Map<string, Fact>();
    for (const { name, minor, currency } of rows) {
      if (there.has(name)) problems.push(`${name} is there twice`);
      there.set(name, { minor, currency });
      if (!this.#entries.has(name)) problems.push(`${name} is there and was never written`);
    }
    for (const [name, possible] of this.#entries) {
      const found = there.get(name) ?? null;
      if (!possible.some((fact) => fact?.minor === found?.minor && fact?.currency === found?.currency)) {
        problems.push(`${name} should be ${told(possible)} and is ${told([found])}`);
      }
      this.#entries.set(name, [found]);
    }
    for (const names of this.#unsureTogether) {
      const present = names.filter((name) => there.has(name)).length;
      if (present > 0 && present < names.length) problems.push(`${names.join()} is there by half`);
    }
    this.#unsureTogether = [];
    return problems;
  }
}

const told = (possible: Possible) =>
  possible.map((fact) => fact ? `${fact.minor} ${fact.currency}` : "absent").join(" or ");

/** By currency, with two decimals, like `totals_by_currency`. */
export function totals(rows: readonly Row[]): Record<string, string> {
  const sums: Record<string, number> = {};
  for (const { minor, currency } of rows) sums[currency] = (sums[currency] ?? 0) + minor;
  return Object.fromEntries(Object.entries(sums).map(([currency, minor]) => [currency, amountOf(minor)]));
}

export const amountOf = (minor: number): string => (minor / 100).toFixed(2);
export const minorOf = (amount: string): number => Math.round(Number(amount) * 100);
