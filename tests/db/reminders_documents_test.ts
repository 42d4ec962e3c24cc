/** Documents that came in, in the next digest of everybody who sees them. */
import { assertEquals } from "@std/assert";
import { type Books, openBooks } from "../_support/books.ts";
import { addBill, at, database, fresh, run } from "./reminder_run.ts";

let files = 0;
const add = async (books: Books, more: Record<string, unknown> = {}, to?: string) => {
  const { document } = await books.ok("attach_document", {
    step: "keep",
    content: btoa(`file ${++files}`),
    name: "invoice.pdf",
    type: "application/pdf",
    facts: { kind: "invoice", format: "pdf", questions: [], ...more },
  });
  if (to) await books.ok("attach_document", { document_id: document.id, to });
};

/** Each person's documents in the digest, by organization. */
async function said(people: Books[], day: string): Promise<unknown[]> {
  const digests = await run(at(day));
  return people.map(({ userId }) =>
    digests.find(({ recipient_id }) => recipient_id === userId)?.content.organizations
      .map((one) => (one as { documents?: unknown }).documents)
  );
}

Deno.test("a digest counts the documents since the last one that its reader sees", async () => {
  const ana = await fresh();
  const [ben, carla] = [await ana.join(), await ana.join()];
  const other = await openBooks(database, { day: "2026-11-10" });
  for (const books of [ana, other]) {
    await addBill(books, "Rent", "2026-11-22");
    await addBill(books, "Water", "2026-11-24");
  }
  await ana.ok("update_settings", { category: { action: "create", name: "Payroll" } });
  const { results: [wage] } = await ana.ok("log_expenses", {
    items: [{ name: "Wage", amount: "900.00", date: "2026-11-09", category: "Payroll" }],
  });
  await ana.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
  for (const books of [ben, carla]) await books.ok("update_settings", { reminders: { my_mails: "all" } });
  await add(ana);
  await add(ben);
  await add(ana, {}, wage.id);
  // Ben sees his own, Carla none, and the other organization none of these.
  assertEquals(await said([ana, ben, carla, other], "2026-11-20"), [
    [{ came: 3, waiting: 2 }],
    [{ came: 1, waiting: 1 }],
    [null],
    [null],
  ]);
  // Mentioned once.
  assertEquals(await said([ana, other], "2026-11-21"), [[null], [null]]);
});
