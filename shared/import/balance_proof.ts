/** Proves by the balance column which sign money spent has: the balance before a row and its amount are the balance. */

/** A row in ten-thousandths, its amount as signed as its balance. */
export interface Step {
  amount: bigint;
  /** Absent where the file does not say it, as in all rows of a day but the last. */
  balance?: bigint | undefined;
}

export interface SignedRow {
  /** Absent when it cannot be read. */
  amount?: bigint | undefined;
  balance?: bigint | undefined;
  /** Which of the file's accounts it is of. */
  account: string;
}

/**
 * The sign that every balance confirms, with the file's oldest row first or last, or each day's in an order of its own.
 * @returns undefined when a balance contradicts both, or when both fit.
 */
export function provenSign(rows: SignedRow[]): "negative" | "positive" | undefined {
  const accounts = new Map<string, Step[]>();
  for (const { amount, balance, account } of rows) {
    if (amount === undefined) return undefined;
    if (amount === 0n) continue;
    const steps = accounts.get(account);
    if (steps) steps.push({ amount, balance });
    else accounts.set(account, [{ amount, balance }]);
  }
  const proving = [...accounts.values()].filter((steps) =>
    steps.filter(({ balance }) => balance !== undefined).length > 1
  );
  if (proving.length === 0) return undefined;
  const isNegative = proving.every(holds);
  const isPositive = proving.every((steps) =>
    holds(steps.map(({ amount, balance }) => ({ amount: -amount, balance })))
  );
  return isNegative === isPositive ? undefined : isNegative ? "negative" : "positive";
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Two rows can be put in an order by chance. */
const holds = (steps: Step[]) =>
  isChain(steps) || isChain(steps.toReversed()) || (steps.length > 2 && findPath(steps) !== undefined);

/** Whether each balance is the one before it and what lies between. */
export function isChain(steps: Step[]): boolean {
  let known: bigint | undefined;
  let moved = 0n;
  for (const { amount, balance } of steps) {
    moved += amount;
    if (balance === undefined) continue;
    if (known !== undefined && known + moved !== balance) return false;
    [known, moved] = [balance, 0n];
  }
  return true;
}

/**
 * Banks list the rows of a day in an order of their own. In whatever order, each row begins where another one ended,
 * but for the first, and ends where another one begins, but for the last.
 */
export function findPath(steps: Step[]): { opening: bigint; closing: bigint } | undefined {
  if (steps.some(({ balance }) => balance === undefined)) return undefined;
  // A map of numbers is several times as fast as one of large ones.
  const ends = new Map<bigint | number, number>();
  const keyOf = (at: bigint) => at < SAFE && at > -SAFE ? Number(at) : at;
  const count = (at: bigint, by: number) => {
    const key = keyOf(at);
    const left = (ends.get(key) ?? 0) + by;
    if (left === 0) ends.delete(key);
    else ends.set(key, left);
  };
  for (const { amount, balance } of steps) {
    count(balance! - amount, 1);
    count(balance!, -1);
  }
  if (ends.size !== 2) return undefined;
  const ending = (by: number) => [...ends].find(([, left]) => left === by)?.[0];
  const [opening, closing] = [ending(1), ending(-1)];
  return opening !== undefined && closing !== undefined
    ? { opening: BigInt(opening), closing: BigInt(closing) }
    : undefined;
}
