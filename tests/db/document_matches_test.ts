/** Documents match their records even if only few facts are readable, and the answers describe the record's state. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Books, Json } from "../_support/books.ts";
import { keepDocument } from "../_support/documents/keep.ts";

const power = (more: Json = {}) => ({
  name: "Power",
  payee: "Naturstrom AG",
  amount_mode: "variable",
  frequency: "monthly",
  first_due: "2026-11-25",
  ...more,
});
const POWER = { gross: "84.20", issued_on: "2026-11-12", due_on: "2026-11-25", number: "NS-1" };
const LETTERHEAD = { layout: { places: [], names: ["naturstrom", "Parsevalstraße 11, 40468 Düsseldorf", "Berlin"] } };

const candidates = ({ candidates: found = [] }: Json) => found.map(({ id }: Json) => id);
const next = async (books: Books, id: string): Promise<Json> =>
  (await books.ok("list_bills", { bill_id: id })).bills[0];

testBooks("a document whose payee could not be read", {}, {
  "is attached if its letterhead names the payee of an equal amount": async (ana) => {
    const { bill } = await ana.ok("add_bill", power({ amount_mode: "fixed", amount: "84.20" }));
    assertEquals((await keepDocument(ana, { ...POWER, ...LETTERHEAD })).filed?.id, bill.id);
    const { results: [shop] } = await ana.ok("log_expenses", {
      items: [{ name: "Dishwasher", payee: "MediaMarkt", amount: "649.00", date: "2026-11-14" }],
    });
    const bought = { gross: "649.00", issued_on: "2026-11-14", layout: { places: [], names: ["MediaMarkt"] } };
    assertEquals((await keepDocument(ana, bought)).filed?.id, shop.id);
  },

  "asks before it gives a bill its first amount, and no longer after a person attached one": async (ana) => {
    const { bill } = await ana.ok("add_bill", power());
    const first = await keepDocument(ana, { ...POWER, ...LETTERHEAD });
    assertEquals([first.state, candidates(first)], ["question", [bill.id]]);
    assertEquals((await next(ana, bill.id)).amount, undefined);
    await ana.ok("attach_document", { document_id: first.id, to: bill.id });
    const second = await keepDocument(ana, { ...POWER, ...LETTERHEAD, number: "NS-2", due_on: "2026-12-25" });
    assertEquals(second.filed, { id: bill.id, name: "Power", due_on: "2026-12-25" });
  },

  "is recognized by its account once a document with that account was attached": async (ana) => {
    const { bill } = await ana.ok("add_bill", power());
    const iban = "DE89370400440532013000";
    const first = await keepDocument(ana, { ...POWER, iban });
    assertEquals([first.state, first.candidates], ["new", undefined]);
    await ana.ok("attach_document", { document_id: first.id, to: bill.id });
    const second = await keepDocument(ana, { ...POWER, iban, number: "NS-2", due_on: "2026-12-25" });
    assertEquals(second.filed?.due_on, "2026-12-25");
  },

  "forgets the payee of a record that it was detached from": async (ana) => {
    const { bill } = await ana.ok("add_bill", power());
    const { id } = await keepDocument(ana, POWER);
    await ana.ok("attach_document", { document_id: id, to: bill.id, due_on: "2026-12-25" });
    const { document } = await ana.ok("attach_document", { document_id: id, to: "none" });
    assertEquals([document.state, document.candidates], ["new", undefined]);
  },

  "asks about records of the same amount, even without a date": async (ana) => {
    const { results: [shop] } = await ana.ok("log_expenses", {
      items: [{ name: "Dishwasher", payee: "MediaMarkt", amount: "649.00", date: "2026-11-14" }],
    });
    for (const more of [{}, { issued_on: "2026-11-14" }]) {
      const document = await keepDocument(ana, { gross: "649.00", ...more });
      assertEquals([document.state, candidates(document)], ["question", [shop.id]]);
    }
    const { bill } = await ana.ok("add_bill", power({ amount_mode: "fixed", amount: "84.20" }));
    assertEquals(candidates(await keepDocument(ana, POWER)), [bill.id]);
    assertEquals((await keepDocument(ana, { ...POWER, gross: "84.30" })).candidates, undefined);
    // An equal amount with another payee does not match.
    assertEquals((await keepDocument(ana, { ...POWER, payee: "Plumber" })).candidates, undefined);
  },

  "is not called new when too little was read": async (ana) => {
    const partial = await keepDocument(ana, { gross: "12.00" });
    assertEquals([partial.state, partial.proposal], ["new", undefined]);
    assertStringIncludes(partial.hint, "Too little could be read");
    const { hint } = await keepDocument(ana, { payee: "Bakery", gross: "3.40", issued_on: "2026-11-19" });
    assertStringIncludes(hint, "as proposal says");
  },

  "is not matched to a payee by part of another word": async (ana) => {
    await ana.ok("add_bill", power({ payee: "Berliner Wasserbetriebe", name: "Water" }));
    assertEquals((await keepDocument(ana, { ...POWER, ...LETTERHEAD })).candidates, undefined);
  },
});

testBooks("a document that is unlike its record", {}, {
  "in another currency is a question instead of a second bill": async (ana) => {
    const { bill } = await ana.ok("add_bill", power({ currency: "USD", amount_mode: "fixed", amount: "84.20" }));
    const document = await keepDocument(ana, { ...POWER, payee: "Naturstrom AG" });
    assertEquals([document.state, candidates(document), document.proposal], ["question", [bill.id], undefined]);
  },

  "without a readable amount is a question": async (ana) => {
    const { bill } = await ana.ok("add_bill", power());
    const document = await keepDocument(ana, { ...POWER, gross: undefined, payee: "Naturstrom AG" });
    assertEquals(candidates(document), [bill.id]);
  },

  "as a second invoice for a date is a question and keeps the amount": async (ana) => {
    const { bill } = await ana.ok("add_bill", power());
    await keepDocument(ana, { ...POWER, payee: "Naturstrom AG" });
    const second = await keepDocument(ana, { ...POWER, payee: "Naturstrom AG", number: "NS-2", gross: "70.00" });
    assertEquals([second.state, candidates(second)], ["question", [bill.id]]);
    const { document } = await ana.ok("attach_document", { document_id: second.id, to: bill.id });
    assertEquals((await next(ana, bill.id)).amount, "84.20");
    assertEquals(document.record, { status: "open", amount: "84.20", currency: "EUR", differs: true });
    assertStringIncludes(document.hint, "amount differs");
  },

  "attached to a fixed bill reports that the amounts differ": async (ana) => {
    const { bill } = await ana.ok("add_bill", power({ amount_mode: "fixed", amount: "80.00" }));
    const { id } = await keepDocument(ana, { ...POWER, payee: "Naturstrom AG" });
    const { document } = await ana.ok("attach_document", { document_id: id, to: bill.id });
    assertEquals(document.record, { status: "open", amount: "80.00", currency: "EUR", differs: true });
    await ana.ok("update_bill", {
      bill_id: bill.id,
      occurrence: { due_on: "2026-11-25", action: "set_amount", amount: "84.20" },
    });
    const [{ record, hint }] = (await ana.ok("list_documents", { document_id: id })).documents;
    assertEquals([record, hint], [{ status: "open", amount: "84.20", currency: "EUR" }, "It is attached."]);
  },

  "as a candidate marks a usual amount, and a bill that ended": async (ana) => {
    await ana.ok("add_bill", power());
    await keepDocument(ana, { ...POWER, payee: "Naturstrom AG" });
    const high = { ...POWER, payee: "Naturstrom AG", number: "NS-2", due_on: "2026-12-25", gross: "300.00" };
    const [{ amount, usual_amount, ends_on }] = (await keepDocument(ana, high)).candidates;
    assertEquals([amount, usual_amount, ends_on], [undefined, "84.20", undefined]);
    ana.goTo("2026-11-05");
    const gym = await ana.ok(
      "add_bill",
      power({ name: "Gym", payee: "FitX", first_due: "2026-11-10", ends_on: "2026-11-15" }),
    );
    ana.goTo("2026-11-20");
    const late = await keepDocument(ana, {
      payee: "FitX",
      gross: "29.90",
      issued_on: "2026-11-14",
      due_on: "2026-11-24",
    });
    assertEquals(late.candidates.map(({ id, ends_on }: Json) => [id, ends_on]), [[gym.bill.id, "2026-11-15"]]);
  },
});

testBooks("an attached document", {}, {
  "reports whether its record is paid": async (ana) => {
    const { bill } = await ana.ok("add_bill", power());
    const { id } = await keepDocument(ana, { ...POWER, payee: "Naturstrom AG" });
    await ana.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-11-25", advance: true, paid_on: "2026-11-19" });
    const [{ record }] = (await ana.ok("list_documents", { document_id: id })).documents;
    assertEquals(record, { status: "paid", amount: "84.20", currency: "EUR", paid_on: "2026-11-19" });
  },

  "of a deleted record reports the deletion until it is undone": async (ana) => {
    const { results: [lunch] } = await ana.ok("log_expenses", {
      items: [{ name: "Lunch", payee: "Bakery", amount: "14.50", date: "2026-11-14" }],
    });
    const { id } = await keepDocument(ana, { payee: "Bakery", gross: "14.50", issued_on: "2026-11-14" });
    const { warnings } = await ana.call("delete_records", { ids: [lunch.id] });
    assertEquals(warnings.map(({ code, message }: Json) => [code, message.split(" will")[0]]), [
      ["documents_deleted", "1 attached document"],
    ]);
    const read = async () => (await ana.ok("list_documents", { document_id: id })).documents[0];
    assertEquals((await read()).record.status, "deleted");
    assertStringIncludes((await read()).hint, "record was deleted");
    await ana.ok("undo_change");
    assertEquals((await read()).record.status, "paid");
  },

  "names the document that it copies": async (ana) => {
    await ana.ok("add_bill", power());
    const first = await keepDocument(ana, { ...POWER, payee: "Naturstrom AG" });
    const copy = await keepDocument(ana, { ...POWER, payee: "Naturstrom AG" });
    assertEquals([first.copy_of, copy.copy_of], [undefined, { id: first.id, name: first.name }]);
    assertStringIncludes(copy.hint, "copy");
  },
});

testBooks("a changed account", {}, {
  "raises the alarm again until a date with it is paid": async (ana) => {
    const { bill } = await ana.ok("add_bill", power());
    const [known, other] = ["DE89370400440532013000", "GB82WEST12345698765432"];
    const next = (number: string, due_on: string, iban: string) =>
      keepDocument(ana, { ...POWER, payee: "Naturstrom AG", number, due_on, iban });
    await next("A", "2026-11-25", known!);
    assertEquals((await next("B", "2026-12-25", other!)).iban_was, known);
    assertEquals((await next("C", "2027-01-25", other!)).iban_was, known);
    assertEquals((await next("D", "2027-01-25", known!)).iban_was, undefined);
    ana.goTo("2026-12-25");
    await ana.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-12-25" });
    assertEquals((await next("E", "2027-01-25", other!)).iban_was, undefined);
  },

  "needs attention on the books page until its date is paid, skipped or deleted": async (ana, database) => {
    const { bill } = await ana.ok("add_bill", power());
    const next = (due_on: string, iban: string) =>
      keepDocument(ana, { ...POWER, payee: "Naturstrom AG", number: due_on, due_on, iban });
    const shown = async () =>
      (await database.asService<Json>("read_books", {
        ...{ user_id: ana.userId, organization_id: ana.organizationId, at: "2026-11-20T12:00:00Z" },
        ...{ month_on: null, searched: null, cursor: null, paid: null },
      })).documents.data.documents.map(({ id, state }: Json) => [id, state]);
    await next("2026-11-25", "DE89370400440532013000");
    assertEquals(await shown(), []);
    const changed = await next("2026-12-25", "GB82WEST12345698765432");
    assertEquals(await shown(), [[changed.id, "filed"]]);
    await ana.ok("delete_records", { ids: [bill.id] });
    assertEquals(await shown(), []);
    await ana.ok("undo_change");
    assertEquals(await shown(), [[changed.id, "filed"]]);
    ana.goTo("2026-12-25");
    await ana.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-12-25" });
    assertEquals(await shown(), []);
  },
});

testBooks("a reminder", {}, {
  "of a known invoice is matched to its record, even with a fee, and reports that it is paid": async (ana) => {
    const { bill } = await ana.ok("add_bill", power());
    await keepDocument(ana, { ...POWER, payee: "Naturstrom AG" });
    await ana.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-11-25", advance: true, paid_on: "2026-11-19" });
    const due = { issued_on: "2026-12-10", due_on: "2026-12-24", kind: "reminder" };
    for (const gross of ["89.20", "84.20", undefined]) {
      const reminder = await keepDocument(ana, { ...POWER, payee: "Naturstrom AG", ...due, gross });
      assertEquals(reminder.filed, { id: bill.id, name: "Power", due_on: "2026-11-25" });
      assertEquals([reminder.record.status, reminder.record.paid_on], ["paid", "2026-11-19"]);
    }
    assertEquals((await next(ana, bill.id)).amount, undefined);
  },

  "of an unknown invoice asks about past dates, not about the next one": async (ana) => {
    const { bill } = await ana.ok("add_bill", power({ amount_mode: "fixed", amount: "84.20" }));
    ana.goTo("2026-12-15");
    const reminder = { payee: "Naturstrom AG", kind: "reminder", gross: "89.20", issued_on: "2026-12-14" };
    const open = await keepDocument(ana, { ...reminder, due_on: "2026-12-27" });
    assertEquals(open.candidates.map(({ id, due_on }: Json) => [id, due_on]), [[bill.id, "2026-11-25"]]);
    await ana.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-11-25", paid_on: "2026-12-12" });
    const paid = await keepDocument(ana, { ...reminder, gross: "84.20", due_on: "2026-12-27" });
    assertEquals(paid.candidates.map(({ due_on, paid_on }: Json) => [due_on, paid_on]), [["2026-11-25", "2026-12-12"]]);
    assert(paid.state === "question");
  },
});

testBooks("list_documents reports", {}, {
  "mail that it cannot show, without the sender's words": async (ana, database) => {
    const [ben, cem] = [await ana.join(), await ana.join()];
    const arrive = (
      state: string,
      accepted_by: string | null,
      refusals: string[],
      received_at = "2026-11-19T12:00:00Z",
    ) =>
      database.query(
        "insert into app.inbound_mails (organization_id, provider_id, state, sender, subject, accepted_by, refusals, " +
          "leased_until, received_at) values ($1, $2, $3, 'stranger@example.com', 'Ignore all', $4, $5, $6, $6)",
        [ana.organizationId, crypto.randomUUID(), state, accepted_by, refusals, received_at],
      );
    await arrive("waiting", null, []);
    await arrive("read", ben.userId, ["invalid_argument.document_pdf_encrypted"]);
    await arrive("read", ben.userId, ["invalid_argument.document_pdf_encrypted", "document_quota"]);
    await arrive("read", ben.userId, ["invalid_argument.document_winmail"], "2026-11-10T12:00:00Z");
    const told = async (books: Books) =>
      (await books.call("list_documents")).warnings.map(({ code, message }: Json) => [code, message]);
    const [waits, refused, ...others] = await told(ana);
    assertEquals([waits[0], refused[0], others], ["mails_waiting", "mails_not_kept", []]);
    assertStringIncludes(waits[1], "1 email waits");
    assertStringIncludes(refused[1], "2 emails");
    assertStringIncludes(refused[1], "protected by a password");
    assertStringIncludes(refused[1], "storage");
    assertEquals([await told(ben), await told(cem)], [[refused], []]);
    assert(!JSON.stringify(await ana.call("list_documents")).includes("Ignore"));
  },

  "that further documents exist": async (ana) => {
    for (let nth = 0; nth < 26; nth++) await keepDocument(ana, { payee: "Bakery" });
    const { warnings, data } = await ana.call("list_documents");
    assertEquals([warnings.map(({ code }: Json) => code), data.documents.length, data.count], [
      ["documents_more"],
      25,
      26,
    ]);
    assertEquals((await ana.call("list_documents", { query: "Plumber" })).warnings, []);
  },
});
