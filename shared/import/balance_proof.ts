/**
 * Proves the sign of spending by the balance column: the balance before a row plus its amount is the balance after it.
 */

/** A row in ten-thousandths, with its amount and balance as signed in the file. */
export interface Step {
  amount: bigint;
  /** Absent if the file omits it, as in all rows of a day but the last. */
  balance?: bigint | undefined;
  /** YYYY-MM-DD. */
  day?: string | undefined;
}

export interface SignedRow {
  /** Absent when it is unreadable. */
  amount?: bigint | undefined;
  balance?: bigint | undefined;
  day?: string | undefined;
  /** The row's account, among the file's accounts. */
  account: string;
}

/**
 * The sign that every balance confirms, with the oldest row first or last, or with the rows of a day in any order.
 * @returns undefined when a balance contradicts both signs, or when both fit
 */
export function provenSign(rows: SignedRow[]): "negative" | "positive" | undefined {
  const accounts = new Map<string, Step[]>();
  for (const { amount, balance, account, day } of rows) {
    if (amount === undefined) return undefined;
    if (amount === 0n) continue;
    const steps = accounts.get(account);
    if (steps) steps.push({ amount, balance, day });
    else accounts.set(account, [{ amount, balance, day }]);
  }
  const proving = [...accounts.values()].filter((steps) =>
    steps.filter(({ balance }) => balance !== undefined).length > 1
  );
  if (proving.length === 0) return undefined;
  const fits = proving.map((steps) => ({
    asWritten: runOf(steps),
    turned: runOf(steps.map((step) => ({ ...step, amount: -step.amount }))),
  }));
  // In reverse order, each balance is the one before its row.
  const isNegative = fits.every(({ asWritten, turned }) => asWritten === "onward" || turned === "back");
  const isPositive = fits.every(({ asWritten, turned }) => turned === "onward" || asWritten === "back");
  return isNegative === isPositive ? undefined : isNegative ? "negative" : "positive";
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Whether the days are in order, and the last is later than the first. */
export const rises = (days: string[]): boolean =>
  days[0]! < days.at(-1)! && days.every((day, i) => i === 0 || days[i - 1]! <= day);

/** Whether the balances run forward or backward in time; undefined when they do not fit. */
function runOf(steps: Step[]): "onward" | "back" | undefined {
  const days = steps.map(({ day = "" }) => day);
  if (isChain(steps)) return rises(days.toReversed()) ? "back" : "onward";
  if (isChain(steps.toReversed())) return rises(days) ? "back" : "onward";
  // Two rows can be in order by chance.
  const path = steps.length > 2 ? findPath(steps) : undefined;
  if (!path || !(rises(days) || rises(days.toReversed()))) return path && "onward";
  const [first, last] = [days[0]!, days.at(-1)!].toSorted();
  const closesOn = (on: string) => steps.some(({ day, balance }) => day === on && balance === path.closing);
  return closesOn(first!) && !closesOn(last!) ? "back" : "onward";
}

/** Whether each balance is the previous balance plus the amounts between them. */
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
 * Banks may list the rows of a day in any order. Still, each row except the first begins with another row's balance,
 * and each except the last ends with another row's opening balance.
 */
export function findPath(steps: Step[]): { opening: bigint; closing: bigint } | undefined {
  if (steps.some(({ balance }) => balance === undefined)) return undefined;
  // A map of numbers is several times as fast as one of bigints.
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
