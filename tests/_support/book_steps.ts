/** Tests of tools: one database per test, new books per step. */
import { type Books, type BooksOptions, openBooks } from "./books.ts";
import { openDatabase, type TestDatabase } from "./database.ts";

export type Step = (books: Books, database: TestDatabase) => Promise<void>;

/** @param steps the tests, by description. */
export function testBooks(name: string, options: BooksOptions, steps: Record<string, Step>): void {
  Deno.test(name, async (t) => {
    const database = await openDatabase();
    try {
      for (const [description, work] of Object.entries(steps)) {
        await t.step(description, async () => work(await openBooks(database, options), database));
      }
    } finally {
      await database.close();
    }
  });
}
