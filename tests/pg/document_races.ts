/** Documents on real PostgreSQL: the same file, the same date and the same payment concurrently. */
import { assert, assertEquals } from "@std/assert";
import { type Books, confirmed, type Json, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";

const database = await sharedDatabase();

const ROUNDS = 5;

const keep = (books: Books, content: string, number: string): Promise<Json> =>
  books.call("attach_document", {
    step: "keep",
    content: btoa(content),
    name: "invoice.xml",
    type: "application/xml",
    facts: {
      kind: "invoice",
      format: "ubl",
      payee: "Power company",
      number,
      gross: "84.20",
      currency: "EUR",
      issued_on: "2026-11-12",
      due_on: "2026-11-25",
      questions: [],
    },
  });

Deno.test("the same file sent eight times at once by two people becomes one document", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const owner = await openBooks(database);
    const manager = await owner.join("manager");
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => keep(n % 2 ? owner : manager, "same", "1")),
    );
    // After two seconds of waiting, a call returns `busy`.
    assert(answers.every(({ ok, error }) => ok || error.code === "busy"), JSON.stringify(answers));
    const ids = new Set(answers.filter(({ ok }) => ok).map(({ data }) => data.document.id));
    assertEquals(ids.size, 1);
    const [kept] = await database.query(
      "select count(*)::int as documents from app.documents as d join app.document_files as f on f.document_id = d.id where d.organization_id = $1",
      [owner.organizationId],
    );
    assertEquals(kept, { documents: 1 });
  }
});

Deno.test("attaching a document while its bill is paid sets the amount or leaves it, and pays nothing", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const owner = await openBooks(database);
    const { bill } = await owner.ok("add_bill", {
      name: "Power",
      payee: "Power company",
      amount_mode: "variable",
      frequency: "monthly",
      first_due: "2026-11-25",
    });
    const { data: { document } } = await keep(owner, "power", "1");
    const [attached, paid] = await Promise.all([
      owner.call("attach_document", { document_id: document.id }),
      owner.call("mark_bill_paid", { bill_id: bill.id, due_on: "2026-11-25", amount: "84.20" }),
    ]);
    assertEquals([attached.ok, paid.ok], [true, true], JSON.stringify([attached.error, paid.error]));
    assertEquals(attached.data.document.filed.id, bill.id);
    const payments = await database.query("select amount_minor::int as minor from app.payments where expense_id = $1", [
      bill.id,
    ]);
    assertEquals(payments, [{ minor: 8420 }]);
  }
});

for (const change of ["deleted", "merged"] as const) {
  Deno.test(`a document attached while its payment is ${change} belongs to a payment that exists, or to none`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const owner = await openBooks(database);
      const log = async (name: string) =>
        (await owner.ok("log_expenses", {
          items: [{ name, amount: "84.20", date: "2026-11-14" }],
          on_duplicate: "allow",
        })).results[0].id as string;
      const [gone, kept] = [await log("CARD"), await log("Power")];
      const { data: { document } } = await keep(owner, `file ${round}`, "1");
      const [attached, changed] = await Promise.all([
        owner.call("attach_document", { document_id: document.id, to: gone }),
        change === "merged"
          ? owner.call("update_expenses", { ids: [gone], merge_into: kept })
          : owner.call("delete_records", await confirmed(owner, [gone])),
      ]);
      assertEquals(changed.ok, true, JSON.stringify(changed.error));
      assert(attached.ok || attached.error.code === "not_found", JSON.stringify(attached.error));
      const documented = (await owner.call("list_expenses", { has_document: true })).data.rows;
      const [row] = await database.query<{ expense_id: string | null; is_there: boolean }>(
        "select d.expense_id, e.deleted_at is null as is_there from app.documents as d " +
          "left join app.expenses as e on e.id = d.expense_id where d.id = $1",
        [document.id],
      );
      // A document that came first moves with a merge and disappears with a deletion.
      assertEquals(documented.map(({ id }: Json) => id), attached.ok && change === "merged" ? [kept] : []);
      if (!attached.ok) assertEquals(row!.expense_id, null);
      else if (change === "merged") assertEquals(row!.is_there, true);
    }
  });
}
