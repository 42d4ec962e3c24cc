/** Two calls queue for the same rows, in order, while a third one locks them. They must not deadlock. */
import type { TestDatabase } from "../_support/database.ts";
import { waitFor } from "../_support/wait_for.ts";

/** A query that locks, and its parameters. */
export type Held = [query: string, ...parameters: unknown[]];

export const organizationOf = (id: string): Held => [
  "select from identity.organizations where id = $1 for no key update",
  id,
];

/** @returns the results of both. Waits until the second call also waits, or has ended */
export async function inLine<First, Second>(
  database: TestDatabase,
  [query, ...parameters]: Held,
  first: () => Promise<First>,
  second: () => Promise<Second>,
): Promise<[First, Second]> {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const { promise: locked, resolve: holds } = Promise.withResolvers<void>();
  const holding = database.transaction(async (session) => {
    await session.query(query, parameters);
    holds();
    await finished;
  });
  await locked;
  try {
    const firstAnswer = first();
    await untilWaiting(database, 1);
    const secondAnswer = second();
    await Promise.race([untilWaiting(database, 2), secondAnswer]);
    finish();
    return await Promise.all([firstAnswer, secondAnswer]);
  } finally {
    finish();
    await holding;
  }
}

/** Resolves when this many sessions of the database wait for a lock. */
export const untilWaiting = (database: TestDatabase, count: number): Promise<unknown> =>
  waitFor(async () => {
    const [row] = await database.query<{ count: number }>(
      "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return row!.count >= count || undefined;
  }, { deadlineMs: 5_000, everyMs: 10 });
