/** A database with the payment provider's plans, emptied before each test, and the days of its events. */
import { resetBilling } from "../_support/billing.ts";
import { sharedDatabase } from "../_support/database.ts";

export const database = await sharedDatabase();
/** The test file registers the hook, because a hook applies to its file's tests. */
export const resetEachTime = () => Deno.test.beforeEach(() => resetBilling(database));

export const day = (n: number) => new Date(Date.UTC(2026, 9, n));
export const iso = (n: number) => `2026-10-${String(n).padStart(2, "0")}T00:00:00+00:00`;
export const count = async (table: string) =>
  (await database.query<{ count: number }>(`select count(*)::int as count from ${table}`))[0]!.count;

export const TRIAL_ENDS_AT = "2026-12-01T00:00:00+00:00";
