/** The database's part of rolling, page by page, without the job around it. */
import type { RollingPage } from "../../shared/db/reminders_store.ts";
import type { TestDatabase } from "./database.ts";

interface Rolled {
  advanced: number;
  failed: { ref: string; code: string }[];
}

/** Rolls whatever waits at an instant. */
export async function rollAll(database: TestDatabase, at: string, size = 2000): Promise<Rolled & { pages: number }> {
  const pages = await database.asService<RollingPage[]>("find_rolling_pages", { at, size });
  const total: Rolled = { advanced: 0, failed: [] };
  for (const page of pages) {
    const { advanced, failed } = await database.asService<Rolled>("roll_bills", { at, page });
    total.advanced += advanced;
    total.failed.push(...failed);
  }
  return { ...total, pages: pages.length };
}
