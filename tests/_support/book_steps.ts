/** Registers tests of tools: each has new books, and all share one database. */
import { type Books, type BooksOptions, openBooks } from "./books.ts";
import { openDatabase, type TestDatabase } from "./database.ts";

export type Step = (books: Books, database: TestDatabase) => Promise<void>;

/** Registers a test per step, so that `--filter` can run each alone. @param steps the tests, by description. */
export function testBooks(name: string, options: BooksOptions, steps: Record<string, Step>): void {
  let opened: Promise<TestDatabase> | undefined;
  let left = Object.keys(steps).length;
  const close = async () => {
    await (await opened)?.close();
    opened = undefined;
  };
  for (const [description, work] of Object.entries(steps)) {
    Deno.test(`${name} ${description}`, async () => {
      const database = await (opened ??= openDatabase());
      await work(await openBooks(database, options), database).finally(() => --left === 0 ? close() : undefined);
    });
  }
  // Closes the database here too, because the last test may be filtered out.
  Deno.test.afterAll(close);
}
