/** Rolls bills page by page in the database, without the job. */
import type { RolledPage, RollingPage } from "../../shared/db/reminders_store.ts";
import type { TestDatabase } from "./database.ts";

/** Rolls every bill that is due at an instant, visiting each page once. */
export async function rollAll(
  database: TestDatabase,
  at: string,
  size = 2000,
): Promise<Omit<RolledPage, "passed_over"> & { passedOver: number; pages: number }> {
  const pages = await database.asService<RollingPage[]>("find_rolling_pages", { at, size });
  const total = { advanced: 0, failed: [] as RolledPage["failed"], passedOver: 0, pages: pages.length };
  for (const page of pages) {
    const { advanced, failed, passed_over: passedOver } = await database.asService<RolledPage>("roll_bills", {
      at,
      page,
    });
    total.advanced += advanced;
    total.failed.push(...failed);
    total.passedOver += passedOver;
  }
  return total;
}
