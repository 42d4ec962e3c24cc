/** Documents are stored once, attached by rules, and visible only to people who see their record. */
import { assert, assertEquals, assertFalse } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { keepDocument } from "../_support/documents/keep.ts";

interface Invoice {
  payee?: string;
  gross?: string;
  issued_on?: string;
  due_on?: string;
  number?: string;
  iban?: string;
  currency?: string;
  kind?: string;
}

const base64 = (text: string) => btoa(text);

const add = (books: Books, invoice: Invoice, content?: string): Promise<Json> => keepDocument(books, invoice, content);

const power = (more: Json = {}) => ({
  name: "Power",
  payee: "Stadtwerke München",
  amount_mode: "variable",
  frequency: "monthly",
  first_due: "2026-11-25",
  ...more,
});
const POWER: Invoice = {
  payee: "Stadtwerke München GmbH",
  gross: "84.20",
  issued_on: "2026-11-12",
  due_on: "2026-11-25",
  number: "SW-1",
};

/** The bill's next date in list_bills. */
async function next(books: Books, id: string): Promise<Json> {
  const { bills } = await books.ok("list_bills", { bill_id: id });
  return bills[0];
}

testBooks("attach_document", {}, {
  "for an open date is attached, gives a variable bill its amount, and pays nothing": async (ana) => {
    const { bill } = await ana.ok("add_bill", power());
    const document = await add(ana, POWER);
    assertEquals(document.filed, { id: bill.id, name: "Power", due_on: "2026-11-25" });
    assertEquals(document.state, "filed");
    const after = await next(ana, bill.id);
    assertEquals([after.amount, after.state], ["84.20", "upcoming"]);
  },

  "for the date after the open one is attached to that date": async (ana) => {
    const { bill } = await ana.ok("add_bill", power());
    await add(ana, POWER);
    const december = await add(ana, { ...POWER, number: "SW-2", issued_on: "2026-11-19", due_on: "2026-12-25" });
    assertEquals(december.filed, { id: bill.id, name: "Power", due_on: "2026-12-25" });
    assertEquals((await next(ana, bill.id)).next_due, "2026-11-25");
  },

  "keeps the amount of a fixed bill and asks when it differs": async (ana) => {
    const { bill } = await ana.ok("add_bill", power({ amount_mode: "fixed", amount: "80.00" }));
    const document = await add(ana, POWER);
    assertEquals(document.state, "question");
    assertEquals(document.candidates.map(({ id, due_on }: Json) => [id, due_on]), [[bill.id, "2026-11-25"]]);
    assertEquals((await next(ana, bill.id)).amount, "80.00");
  },

  "is attached to the payment that already paid it": async (ana) => {
    const { results } = await ana.ok("log_expenses", {
      items: [{ name: "Dishwasher", payee: "Media Markt", amount: "499.00", date: "2026-11-14" }],
    });
    const document = await add(ana, { payee: "Media Markt GmbH", gross: "499.00", issued_on: "2026-11-13" });
    assertEquals(document.filed, { id: results[0].id, name: "Dishwasher" });
  },

  "between two bills of one payee is a question, and a negative answer is remembered": async (ana) => {
    const one = await ana.ok("add_bill", power());
    const two = await ana.ok("add_bill", power({ name: "Gas" }));
    const document = await add(ana, POWER);
    assertEquals(document.state, "question");
    assertEquals(document.candidates.map(({ id }: Json) => id).toSorted(), [one.bill.id, two.bill.id].toSorted());
    const said = await ana.ok("attach_document", { document_id: document.id, to: "none" });
    assertEquals([said.document.state, said.document.candidates], ["new", undefined]);
    const again = await ana.ok("attach_document", { document_id: document.id, to: "none" });
    assertEquals(again.document, said.document);
    assertEquals((await ana.ok("attach_document", { document_id: document.id })).document.state, "new");
    const filed = await ana.ok("attach_document", { document_id: document.id, to: two.bill.id });
    assertEquals(filed.document.filed, { id: two.bill.id, name: "Gas", due_on: "2026-11-25" });
  },

  "without a match proposes a bill, or an expense if it has no due date": async (ana) => {
    const due = await add(ana, { payee: "Plumber", gross: "120.00", issued_on: "2026-11-10", due_on: "2026-12-01" });
    assertEquals(due.state, "new");
    const { bill } = await ana.ok(due.proposal.tool, due.proposal.arguments);
    assertEquals((await ana.ok("attach_document", { document_id: due.id })).document.filed.id, bill.id);
    const bought = await add(ana, { payee: "Bakery", gross: "3.40", issued_on: "2026-11-19" });
    const { results } = await ana.ok(bought.proposal.tool, bought.proposal.arguments);
    assertEquals((await ana.ok("attach_document", { document_id: bought.id })).document.filed.id, results[0].id);
  },

  "with an amount but no payee is new, and one without facts is unread": async (ana) => {
    const states = [];
    for (const said of [{ gross: "12.00" }, { payee: "Bakery" }, {}]) states.push((await add(ana, said)).state);
    assertEquals(states, ["new", "new", "unread"]);
    const unread = await add(ana, {});
    assertEquals((await ana.ok("attach_document", { document_id: unread.id, to: "none" })).document, unread);
  },

  "with the same content is the same document, and the same invoice joins the first": async (ana) => {
    const { bill } = await ana.ok("add_bill", power());
    const first = await add(ana, POWER, "same");
    assertEquals((await add(ana, POWER, "same")).id, first.id);
    const pdf = await add(ana, POWER, "as a PDF");
    assert(pdf.id !== first.id);
    assertEquals(pdf.filed.id, bill.id);
    assertEquals((await ana.ok("list_documents")).documents.length, 2);
  },

  "warns if the payee changed its IBAN": async (ana) => {
    await ana.ok("add_bill", power());
    await add(ana, { ...POWER, iban: "DE89370400440532013000" });
    const same = await add(ana, { ...POWER, number: "SW-1b", iban: "DE89370400440532013000" });
    assertFalse("iban_was" in same);
    const other = await add(ana, { ...POWER, number: "SW-2", iban: "GB82WEST12345698765432" });
    assertEquals([other.iban_was, typeof other.alert], ["DE89370400440532013000", "string"]);
    const { warnings } = await ana.call("attach_document", { document_id: other.id });
    assertEquals(warnings.map(({ code }: Json) => code), ["iban_changed"]);
  },

  "with several accounts is doubtful until its payee's earlier documents have all of them": async (ana, database) => {
    const [one, two, other] = ["DE89370400440532013000", "GB82WEST12345698765432", "NL91ABNA0417164300"];
    const several = (ibans: string[]) => ({ questions: [{ code: "several_ibans", params: { ibans } }] }) as Invoice;
    const doubtful = async (books: Books, number: string, ...ibans: string[]) =>
      (await add(books, { ...POWER, number, ...several(ibans) })).doubts?.length;
    await ana.ok("add_bill", power());
    const asked = 1;
    assertEquals(await doubtful(ana, "A", one!, two!), asked);
    assertEquals(await doubtful(ana, "B", one!, two!), undefined);
    assertEquals(await doubtful(ana, "C", two!), undefined);
    // A question remains if one account is new or the list is incomplete.
    assertEquals(await doubtful(ana, "D", one!, other!), asked);
    assertEquals(await doubtful(ana, "E", one!, two!, one!, two!), asked);
    // Accounts of another payee or organization count as unknown here.
    assertEquals((await add(ana, { payee: "Plumber", gross: "1.00", ...several([one!, two!]) })).doubts.length, 1);
    const stranger = await openBooks(database);
    await stranger.ok("add_bill", power());
    assertEquals(await doubtful(stranger, "A", one!, two!), asked);
  },

  "is visible to its person only until it is attached, then to everyone who sees its record": async (ana) => {
    const [ben, viewer] = [await ana.join(), await ana.join("viewer")];
    const manager = await ana.join("manager");
    const listed = async (who: Books) => (await who.ok("list_documents")).documents.map(({ id }: Json) => id);
    const mine = await add(ben, { payee: "Bakery", gross: "3.40", issued_on: "2026-11-19" });
    assertEquals([await listed(ben), await listed(viewer), await listed(manager)], [[mine.id], [], [mine.id]]);
    await ana.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    const { bill } = await ana.ok("add_bill", power({ category: "Payroll" }));
    const wage = await add(ana, POWER, "wage");
    assertEquals((await listed(ben)).toSorted(), [mine.id, wage.id].toSorted());
    assertEquals(await listed(viewer), [wage.id]);
    await ana.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    assertEquals([await listed(ben), await listed(viewer)], [[mine.id], []]);
    await ben.fails("not_found", "attach_document", { document_id: wage.id, to: "none" });
    await ben.fails("not_found", "list_documents", { document_id: wage.id, content: true });
    // The answers don't reveal that another person has the same file.
    const own = await add(ben, POWER, "wage");
    assert(own.id !== wage.id);
    assertEquals([own.state, own.candidates], ["new", undefined]);
    assertEquals((await next(ana, bill.id)).amount, "84.20");
  },

  "is not added or attached by a viewer or a former member": async (ana, database) => {
    const [ben, viewer] = [await ana.join(), await ana.join("viewer")];
    await ana.ok("add_bill", power());
    const document = await add(ana, POWER);
    const keep = {
      step: "keep",
      content: base64("x"),
      name: "a.xml",
      type: "application/xml",
      facts: { questions: [] },
    };
    await viewer.fails("forbidden_role", "attach_document", keep);
    await viewer.fails("forbidden_role", "attach_document", { document_id: document.id, to: "none" });
    await database.query("delete from identity.memberships where user_id = $1", [ben.userId]);
    assertEquals(await ben.call("attach_document", keep), null);
    assertEquals(await ben.call("list_documents"), null);
  },

  "beyond the plan's storage is refused, and nothing is stored": async (ana, database) => {
    const document = await add(ana, POWER);
    await database.query("update app.documents set size = 10485760 where id = $1", [document.id]);
    await database.query(
      "insert into app.documents (organization_id, added_by, hash, name, type, size) " +
        "select organization_id, added_by, lpad(to_hex(n), 64, '0'), 'a', 'image/png', 10485760 " +
        "from app.documents, generate_series(1, 199) as n where id = $1",
      [document.id],
    );
    await ana.fails("document_quota", "attach_document", {
      step: "keep",
      content: base64("one more"),
      name: "a.xml",
      type: "application/xml",
      facts: { questions: [] },
    });
    const [kept] = await database.query(
      "select count(*)::int as files from app.document_files where organization_id = $1",
      [ana.organizationId],
    );
    assertEquals(kept, { files: 1 });
  },

  "without a record is purged with its bytes after 400 days, and others with their record": async (
    ana,
    database,
  ) => {
    await ana.ok("add_bill", power());
    const filed = await add(ana, POWER);
    const loose = await add(ana, { payee: "Bakery", gross: "3.40", issued_on: "2026-11-19" });
    const ids = async () =>
      (await database.query<{ id: string }>(
        "select document_id as id from app.document_files where organization_id = $1 order by 1",
        [ana.organizationId],
      )).map((
        { id },
      ) => id);
    const purge = (at: string) => database.query("select jobs.purge($1)", [at]);
    await purge("2027-12-01T12:00:00Z");
    assertEquals(await ids(), [filed.id, loose.id].toSorted());
    await purge("2027-12-30T12:00:00Z");
    assertEquals(await ids(), [filed.id]);
    await database.query("update app.expenses set deleted_at = '2028-01-01' where organization_id = $1", [
      ana.organizationId,
    ]);
    await purge("2028-03-01T12:00:00Z");
    assertEquals(await ids(), []);
  },

  "is exported with its file": async (ana, database) => {
    await ana.ok("add_bill", power());
    const one = await add(ana, POWER, "first");
    const two = await add(ana, { ...POWER, number: "SW-9", due_on: "2026-12-25" }, "second");
    const page = async (part: string, after: unknown = null) =>
      (await database.asService<Json>("read_export", {
        user_id: ana.userId,
        organization_id: ana.organizationId,
        part,
        after,
        from_on: null,
        to_on: null,
        at: "2026-11-20T12:00:00Z",
      })).page;
    assertEquals(
      (await page("documents")).rows.map(({ id, record }: Json) => [id, record]),
      [one.id, two.id].toSorted().map((id) => [id, "Power"]),
    );
    const first = await page("document_files");
    const second = await page("document_files", first.next);
    assertEquals([first, second].map(({ rows }) => atob(rows[0].content)).toSorted(), ["first", "second"]);
    assertEquals((await page("document_files", second.next)).rows, []);
  },

  "is detached by undo, which also reverts its amount": async (ana) => {
    const { bill } = await ana.ok("add_bill", power());
    const document = await add(ana, POWER);
    const undone = await ana.ok("undo_change");
    assertEquals(undone.undone.summary, "Attached document invoice.xml to Power due 2026-11-25");
    const [listed] = (await ana.ok("list_documents", { document_id: document.id })).documents;
    assertEquals(listed.filed, undefined);
    assertEquals((await next(ana, bill.id)).amount, undefined);
  },
});
