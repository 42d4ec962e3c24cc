/**
 * Stored credentials: any caller that ends a link removes its credential, and only a caller that has read the current
 * one can replace it.
 */
import { assertEquals, assertRejects } from "@std/assert";
import { type Envelope, openCredential, sealCredential } from "../../shared/credentials/envelope.ts";
import { type Books, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";

const database = await sharedDatabase();

const KEYS = [btoa("k".repeat(32))];
const AT = "2026-11-20T10:00:00Z";

interface Connected {
  books: Books;
  billId: string;
  linkId: string;
  envelope: Envelope;
}

/** A variable bill with a link and a credential, as the connect page creates them. */
async function connectBill(): Promise<Connected> {
  const books = await openBooks(database);
  const { bill } = await books.ok("add_bill", {
    name: "Power",
    amount_mode: "variable",
    currency: "EUR",
    frequency: "monthly",
    first_due: "2026-12-05",
  });
  const opened = await database.asService<{ link_id: string }>("open_connection", {
    user_id: books.userId,
    bill_id: bill.id,
    provider_key: "openai",
    quotas: [],
    at: AT,
  });
  const envelope = await sealCredential(KEYS, opened.link_id, { api_key: "canary" });
  const connected = { books, billId: bill.id, linkId: opened.link_id, envelope };
  assertEquals((await keep(connected, envelope)).outcome, "connected");
  return connected;
}

const keep = ({ books, billId, linkId }: Connected, envelope: unknown, provider_key = "openai") =>
  database.asService<{ outcome: string }>("connect_provider", {
    user_id: books.userId,
    bill_id: billId,
    provider_key,
    provider_name: "OpenAI",
    link_id: linkId,
    account_label: "Organization …nary",
    envelope,
    at: AT,
  });

async function readEnvelopes(linkId: string): Promise<Envelope[]> {
  const rows = await database.asService<{ link_id: string; envelope: Envelope }[]>("read_provider_credentials", {
    link_ids: [linkId],
  });
  return rows.map(({ envelope }) => envelope);
}

Deno.test("the store returns a credential unchanged", async () => {
  const { linkId, envelope } = await connectBill();
  const [stored] = await readEnvelopes(linkId);
  assertEquals(stored, envelope);
  assertEquals(await openCredential(KEYS, linkId, stored), { api_key: "canary" });
});

const ENDINGS: Record<string, (connected: Connected) => Promise<unknown>> = {
  "the owner disconnects the bill with the tool, as a signed-in person": ({ books, billId }) =>
    books.ok("update_bill", { bill_id: billId, provider: { action: "disconnect" } }),
  "the owner removes it on the account page": ({ books, linkId }) =>
    database.asService("change_provider_link", { user_id: books.userId, link_id: linkId, action: "remove", at: AT }),
  "another provider replaces it": async ({ books, billId, linkId, envelope }) => {
    const { link_id } = await database.asService<{ link_id: string }>("open_connection", {
      user_id: books.userId,
      bill_id: billId,
      provider_key: "github",
      quotas: [],
      at: AT,
    });
    assertEquals(link_id === linkId, false);
    await keep({ books, billId, linkId: link_id, envelope }, envelope, "github");
  },
  "the service ends it": ({ linkId }) =>
    database.asRole(
      "service_role",
      {},
      (session) => session.query("update app.provider_links set status = 'revoked' where id = $1", [linkId]),
    ),
  "the operator ends it": ({ linkId }) =>
    database.query("update app.provider_links set status = 'revoked' where id = $1", [linkId]),
  "the bill is removed permanently": ({ billId }) => database.query("delete from app.expenses where id = $1", [billId]),
  "the organization is deleted": ({ books }) =>
    database.query("delete from identity.organizations where id = $1", [books.organizationId]),
};

for (const [what, end] of Object.entries(ENDINGS)) {
  Deno.test(`the credential is removed at once when ${what}`, async () => {
    const connected = await connectBill();
    const bystander = await connectBill();
    await end(connected);
    assertEquals(await readEnvelopes(connected.linkId), []);
    assertEquals((await readEnvelopes(bystander.linkId)).length, 1);
  });
}

Deno.test("the credential stays while its link is paused or failing, or its bill can still be restored", async () => {
  const { books, billId, linkId } = await connectBill();
  for (const status of ["paused", "needs_reauth", "active"]) {
    await database.query("update app.provider_links set status = $1 where id = $2", [status, linkId]);
  }
  await books.ok("update_bill", { bill_id: billId, set: { status: "paused" } });
  await database.query("update app.expenses set deleted_at = now() where id = $1", [billId]);
  assertEquals((await readEnvelopes(linkId)).length, 1);
});

Deno.test("previewing a disconnection keeps the credential, and undoing one does not restore it", async () => {
  const { books, billId, linkId } = await connectBill();
  const disconnect = { bill_id: billId, provider: { action: "disconnect" } };
  await books.ok("update_bill", { ...disconnect, dry_run: true });
  assertEquals((await readEnvelopes(linkId)).length, 1);
  await books.ok("update_bill", disconnect);
  await books.call("undo_change");
  assertEquals(await readEnvelopes(linkId), []);
});

Deno.test("signed-in people cannot remove others' credentials by ending links", async () => {
  const { linkId } = await connectBill();
  const stranger = await openBooks(database);
  const member = await (await connectBill()).books.join();
  for (const { userId, organizationId } of [stranger, member]) {
    const claims = { sub: userId, organization_id: organizationId };
    await database.asRole(
      "authenticated",
      claims,
      (session) => session.query("update app.provider_links set status = 'revoked' where id = $1", [linkId]),
    );
    for (const sql of ["select * from app.provider_credentials", "delete from app.provider_credentials where true"]) {
      await assertRejects(
        () => database.asRole("authenticated", claims, (session) => session.query(sql)),
        Error,
        "permission denied",
      );
    }
  }
  assertEquals((await readEnvelopes(linkId)).length, 1);
});

Deno.test("reseal_provider_credential() replaces the value that was read, and no newer one", async () => {
  const connected = await connectBill();
  const { linkId, envelope } = connected;
  const rotated = [btoa("n".repeat(32)), ...KEYS];
  const resealed = await sealCredential(rotated, linkId, await openCredential(rotated, linkId, envelope));
  const stale = (at_most: number) =>
    database.asService<{ link_id: string }[]>("find_stale_credentials", {
      key_id: resealed.key_id,
      after: "",
      at_most,
    });
  const before = await stale(100);
  assertEquals(before.find(({ link_id }) => link_id === linkId), { link_id: linkId, envelope });
  assertEquals(await stale(1), before.slice(0, 1));
  const reseal = () =>
    database.asService("reseal_provider_credential", {
      link_id: linkId,
      replaced: envelope,
      envelope: resealed,
      at: AT,
    });
  assertEquals(await reseal(), { outcome: "resealed" });
  assertEquals(await readEnvelopes(linkId), [resealed]);
  assertEquals(await stale(100), before.filter(({ link_id }) => link_id !== linkId));

  const entered = await sealCredential(rotated, linkId, { api_key: "another" });
  await keep(connected, entered);
  assertEquals(await reseal(), { outcome: "changed" });
  assertEquals(await readEnvelopes(linkId), [entered]);
  await database.query("update app.provider_links set status = 'revoked' where id = $1", [linkId]);
  assertEquals(await reseal(), { outcome: "changed" });
  assertEquals(await readEnvelopes(linkId), []);
});

Deno.test("only envelopes are stored", async () => {
  const connected = await connectBill();
  for (
    const wrong of [{}, { ...connected.envelope, nonce: "" }, { ...connected.envelope, key_id: "canary" }, {
      token: "canary",
    }]
  ) {
    await assertRejects(() => keep(connected, wrong), Error, "provider_credentials_envelope_shape");
  }
});

Deno.test("connect_provider() stores no credential for a link that another provider has replaced", async () => {
  const connected = await connectBill();
  const { books, billId, envelope } = connected;
  const asked = { user_id: books.userId, bill_id: billId, quotas: [], at: AT };
  const github = await database.asService<{ link_id: string }>("open_connection", { ...asked, provider_key: "github" });
  assertEquals((await keep({ ...connected, linkId: github.link_id }, envelope, "github")).outcome, "connected");
  assertEquals(await keep(connected, envelope), { outcome: "moved" } as { outcome: string });
  const live = await database.query(
    "select provider_key from app.provider_links where expense_id = $1 and status <> 'revoked'",
    [billId],
  );
  assertEquals(live, [{ provider_key: "github" }]);
});
