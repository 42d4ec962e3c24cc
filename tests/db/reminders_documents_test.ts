/** Documents and waiting mail, in the next digest of everybody who may decide about them. */
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

Deno.test("a digest counts an attached document that asks for another account", async () => {
  const ana = await fresh();
  const { bill } = await ana.ok("add_bill", {
    name: "Rent",
    amount: "900",
    frequency: "once",
    first_due: "2026-11-22",
  });
  await add(ana, { iban: "DE89370400440532013000" }, bill.id);
  await add(ana, { iban: "GB82WEST12345698765432" }, bill.id);
  assertEquals(await said([ana], "2026-11-20"), [[{ came: 2, waiting: 1 }]]);
});

Deno.test("a digest counts the documents since the last one that its reader may see", async () => {
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
  // Ben sees his own, Carla sees none, and the other organization sees none of these.
  assertEquals(await said([ana, ben, carla, other], "2026-11-20"), [
    [{ came: 3, waiting: 2 }],
    [{ came: 1, waiting: 1 }],
    [null],
    [null],
  ]);
  // The digest mentions them once.
  assertEquals(await said([ana, other], "2026-11-21"), [[null], [null]]);
});

/** A stranger's mail, which somebody must accept or block. */
const arrive = async (books: Books, received_at: string) =>
  await database.query(
    "insert into app.inbound_mails (organization_id, provider_id, state, sender, leased_until, received_at) " +
      "values ($1, $2, 'waiting', 'stranger@example.com', $3, $3)",
    [books.organizationId, `mail ${++files}`, received_at],
  );

/** The documents and mail in each person's digest; undefined without a digest. */
async function told(people: Books[], day: string): Promise<unknown[]> {
  const digests = await run(at(day));
  return people.map(({ userId }) => {
    const found = digests.find(({ recipient_id }) => recipient_id === userId);
    return found && found.content.organizations
      .map((one) => one as { documents?: object; mails?: object })
      .map(({ documents, mails }) => ({ ...(documents && { documents }), ...(mails && { mails }) }));
  });
}

Deno.test("a document that needs a person causes one digest on the next day, for people who may decide", async () => {
  const ana = await fresh();
  const [ben, carla, dan] = [await ana.join("manager"), await ana.join(), await ana.join()];
  const other = await openBooks(database, { day: "2026-11-10" });
  for (const books of [ben, carla]) await books.ok("update_settings", { reminders: { my_mails: "all" } });
  await add(carla);
  await add(dan);
  await database.query("update app.documents set created_at = '2026-11-10T06:00:00Z'");
  const people = [ana, ben, carla, dan, other];
  // Not on its own day.
  assertEquals(await told(people, "2026-11-10"), [undefined, undefined, undefined, undefined, undefined]);
  const two = [{ documents: { came: 2, waiting: 2 } }];
  // Carla sees her own. Dan wants mail about his bills only.
  assertEquals(await told(people, "2026-11-11"), [
    two,
    two,
    [{ documents: { came: 1, waiting: 1 } }],
    undefined,
    undefined,
  ]);
  assertEquals(await told(people, "2026-11-11"), [undefined, undefined, undefined, undefined, undefined]);
  assertEquals(await told(people, "2026-11-12"), [undefined, undefined, undefined, undefined, undefined]);
});

Deno.test("an attached document causes no digest", async () => {
  const ana = await fresh();
  const bill = await addBill(ana, "Rent", "2027-03-01");
  await add(ana, {}, bill);
  await database.query("update app.documents set created_at = '2026-11-10T06:00:00Z'");
  assertEquals(await told([ana], "2026-11-11"), [undefined]);
});

Deno.test("waiting mail causes one digest for people who may accept it, and is named until it expires", async () => {
  const ana = await fresh();
  const [ben, carla] = [await ana.join("manager"), await ana.join()];
  const other = await openBooks(database, { day: "2026-11-10" });
  for (const books of [ben, carla]) await books.ok("update_settings", { reminders: { my_mails: "all" } });
  await arrive(ana, "2026-11-10T06:00:00Z");
  const people = [ana, ben, carla, other];
  const waits = [{ mails: { count: 1, until: "2026-11-24" } }];
  assertEquals(await told(people, "2026-11-11"), [waits, waits, undefined, undefined]);
  assertEquals(await told(people, "2026-11-12"), [undefined, undefined, undefined, undefined]);
  await addBill(ana, "Rent", "2026-11-15");
  assertEquals(await told([ana], "2026-11-13"), [waits]);
  await arrive(ana, "2026-11-13T20:00:00Z");
  assertEquals(await told([ben], "2026-11-14"), [[{ mails: { count: 2, until: "2026-11-24" } }]]);
  await arrive(ana, "2026-11-15T06:00:00Z");
  await database.query("update app.inbound_mails set state = 'read'");
  assertEquals(await told([ana, ben], "2026-11-16"), [undefined, undefined]);
});

Deno.test("mail that arrives after a digest was created is announced only in the next one", async () => {
  const ana = await fresh();
  await addBill(ana, "Rent", "2026-11-15");
  await arrive(ana, "2026-11-13T23:00:00Z");
  assertEquals(await told([ana], "2026-11-13"), [[{}]]);
  assertEquals(await told([ana], "2026-11-14"), [[{ mails: { count: 1, until: "2026-11-27" } }]]);
  assertEquals(await told([ana], "2026-11-15"), [undefined]);
});

Deno.test("people without mails, with a refused address or an ended plan get no digest about documents or mail", async () => {
  for (
    const stop of [
      "update identity.profiles set email_enabled = false",
      "update identity.profiles set refused_email = email, refused_at = now()",
      "update identity.memberships set mails = 'none'",
      "update identity.organizations set plan = 'free'",
    ]
  ) {
    const ana = await fresh();
    await add(ana);
    await database.query("update app.documents set created_at = '2026-11-10T06:00:00Z'");
    await arrive(ana, "2026-11-10T06:00:00Z");
    await database.query(stop);
    assertEquals(await told([ana], "2026-11-11"), [undefined], stop);
    const left = await database.query("select from jobs.reminder_digests");
    assertEquals(left.length, 0, stop);
  }
});
