/** Files that ChatGPT passes to `attach_document`, over HTTP and a real database. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { takeFile } from "../../../functions/mcp/tools/attach_document/take_file.ts";
import type { Config } from "../../../shared/config.ts";
import { createGuardedFetch, type GuardedAnswer, type GuardedRequest } from "../../../shared/net/guarded_fetch.ts";
import { readConfig } from "../../../shared/config.ts";
import { addMember } from "../../_support/books.ts";
import { sharedDatabase } from "../../_support/database.ts";
import { writeMail } from "../../_support/documents/mail.ts";
import { writePdf } from "../../_support/documents/pdf.ts";
import { ublInvoice } from "../../fixtures/ubl_invoice.ts";
import { connect, createPerson, type Json, registerClient, SITE } from "../oauth/harness.ts";
import { createSite } from "../oauth/site.ts";

const database = await sharedDatabase();
const { fileHosts } = readConfig({}, []);
const ADDRESS = "https://files.oaiusercontent.com/file-1?sig=only-for-this-file";

const file = (more: Json = {}) => ({ download_url: ADDRESS, file_id: "file_1", file_name: "invoice.xml", ...more });
const served = (content: string | Uint8Array, status = 200): GuardedAnswer => ({
  ok: true,
  status,
  headers: new Headers(),
  body: typeof content === "string" ? new TextEncoder().encode(content) : content,
});

/** @param files content by name */
const mailOf = (files: Record<string, string>): Uint8Array =>
  writeMail({
    parts: [
      { type: "text/plain", content: "Some invoices", encoding: "base64" },
      ...Object.entries(files).map(([name, content]) => ({
        ...{ type: "application/octet-stream", name, content },
        ...{ encoding: "base64" as const, disposition: "attachment" as const },
      })),
    ],
  });

type Answer = GuardedAnswer | ((request: GuardedRequest) => Promise<GuardedAnswer>);

/** A person's app. `host.answer`: the host's response. */
async function start({ access = "write", ...config }: { access?: "read" | "write" } & Partial<Config> = {}) {
  const fetched: GuardedRequest[] = [];
  const host: { answer: Answer } = { answer: served(ublInvoice()) };
  const { harness, fetch } = createSite(database, { rateLimits: "off", ...config }, async (request) => {
    fetched.push(request);
    return typeof host.answer === "function" ? await host.answer(request) : host.answer;
  });
  const person = await createPerson(database, `${crypto.randomUUID()}@example.com`, ["team"]);
  const clientId = await registerClient(harness);
  const { access_token } = await connect(harness, { clientId, person, access });
  const ask = async (name: string, args: Json) => {
    const response = await fetch(`${SITE}/api/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${access_token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
    });
    return { status: response.status, message: await response.json() as Json };
  };
  const call = async (name: string, args: Json) => (await ask(name, args)).message.result?.structuredContent;
  const [organizationId] = person.organizations as [string];
  const kept =
    async () => (await database.query<{ name: string; expense_id: string | null; content: string; type: string }>(
      "select d.name, d.expense_id, d.type, convert_from(f.content, 'UTF8') as content from app.documents as d join app.document_files as f " +
        "on f.document_id = d.id where d.organization_id = $1 order by d.recorded_seq",
      [organizationId],
    ));
  return {
    host,
    fetched,
    harness,
    person,
    organizationId,
    ask,
    call,
    kept,
    attach: (more: Json = {}, args: Json = {}) => call("attach_document", { file: file(more), ...args }),
  };
}

Deno.test("a passed file is stored with its bytes, read, and attached without a payment", async () => {
  const { host, fetched, attach, call, kept } = await start();
  await call("log_expenses", { items: [{ name: "Stadtwerke München", amount: "119.00", date: "2026-11-13" }] });
  const { data: { document } } = await attach();
  assertEquals([document.state, document.filed.name, document.read.gross], ["filed", "Stadtwerke München", "119.00"]);
  assertStringIncludes(document.url, `${SITE}/account/documents/doc_`);
  const [stored] = await kept();
  assertEquals([stored!.name, stored!.content], ["invoice.xml", ublInvoice()]);
  assertEquals(fetched.map(({ url, maxBytes }) => [url, maxBytes]), [[ADDRESS, 10 * 1024 * 1024]]);

  host.answer = served(ublInvoice({ payee: "Kino", number: "K1", gross: "20.00" }));
  const { data: { results: [film] } } = await call("log_expenses", { items: [{ name: "Film", amount: "9.00" }] });
  const told = await attach({ file_name: undefined, mime_type: "text/html", unknown_field: 1 }, { to: film.id });
  assertEquals([told.data.document.filed.id, told.data.document.name], [film.id, "document"]);
  assert(told.change_id);
  assertEquals((await kept()).map(({ type }) => type), ["application/xml", "application/xml"]);
});

Deno.test("a passed file is stored once, even if it is sent twice, concurrently or after a killed call", async () => {
  const { attach, kept, call, person, organizationId, harness } = await start();
  const { data: { results: [paid] } } = await call("log_expenses", {
    items: [{ name: "Stadtwerke München", amount: "119.00", date: "2026-11-13" }],
  });
  // Stored, but not attached.
  const content = btoa(String.fromCharCode(...new TextEncoder().encode(ublInvoice())));
  await database.asService("run_page_tool", {
    ...{ user_id: person.id, organization_id: organizationId, tool: "attach_document", at: harness.clock.now },
    arguments: {
      ...{ step: "keep", content, name: "invoice.xml", type: "application/xml" },
      facts: {
        ...{ kind: "invoice", format: "ubl", payee: "Stadtwerke München GmbH", gross: "119.00", currency: "EUR" },
        ...{ issued_on: "2026-11-12", questions: [] },
      },
    },
  });
  assertEquals((await kept()).map(({ expense_id }) => expense_id), [null]);
  const answers = await Promise.all([attach(), attach(), attach()]);
  assertEquals(answers.map(({ data }) => data.document.filed.id), [paid.id, paid.id, paid.id]);
  await attach();
  assertEquals((await kept()).map(({ expense_id }) => expense_id), [paid.id]);
});

Deno.test("a failed download stores nothing, reports it and can be repeated", async () => {
  const { host, attach, kept, harness } = await start();
  for (
    const [answer, says] of [
      [served("", 403), "could not be downloaded"],
      [served("", 302), "could not be downloaded"],
      [served("part", 206), "could not be downloaded"],
      [{ ok: false, reason: "cut_short" }, "could not be downloaded"],
      [{ ok: false, reason: "timed_out" }, "could not be downloaded"],
      [{ ok: false, reason: "encoded" }, "could not be downloaded"],
      [{ ok: false, reason: "too_large" }, "larger than 10 MB"],
      [served(""), "not an invoice"],
      [served("<!doctype html><p>Sign in"), "not an invoice"],
      [served("Date,Amount\n2026-11-01,1.00"), "not an invoice"],
      [served("PK\x03\x04zip"), "not an invoice"],
      [served(writePdf([[]], { catalog: "/OpenAction << /S /JavaScript /JS (app.alert(1)) >>" })), "contains a script"],
    ] as [GuardedAnswer, string][]
  ) {
    host.answer = answer;
    const { ok, error } = await attach();
    assertEquals([ok, error.field], [false, "file"]);
    assertStringIncludes(error.message, says);
    assertStringIncludes(error.message, "othing was stored");
  }
  assertEquals(await kept(), []);
  assert(harness.log.some((line) => line.includes("timed_out")));
  assert(!harness.log.some((line) => line.includes("only-for-this-file")));
  host.answer = served(ublInvoice());
  assertEquals((await attach()).ok, true);
});

Deno.test("nothing is fetched from other hosts, from private addresses or through a rebound name", async () => {
  const { host, attach, fetched, kept, harness } = await start();
  for (
    const url of [
      "https://evil.example/?books=all",
      "https://evil.blob.core.windows.net/x",
      "https://oaisdmntprmallory.blob.core.windows.net/x",
      "https://oaiusercontent.com.evil.example/x",
      "https://eviloaiusercontent.com/x",
      "https://files.oaiusercontent.com@evil.example/x",
      "https://169.254.169.254/latest/meta-data",
      "https://[::1]/x",
      "https://localhost/x",
      "file:///etc/passwd",
      "nonsense",
      "",
    ]
  ) {
    const { error } = await attach({ download_url: url });
    assertStringIncludes(error.message, "not one of the file hosts", url);
  }
  assertEquals(fetched, []);
  assert(harness.log.some((line) => line.includes("file_host_refused") && line.includes("evil.example")));
  assert(!harness.log.some((line) => line.includes("books=all")));

  const connected: string[] = [];
  let addresses = ["127.0.0.1"];
  const guarded = createGuardedFetch({
    network: {
      resolve: (_name, type) => Promise.resolve(type === "A" ? addresses : []),
      connect: (address) => {
        connected.push(address);
        return Promise.reject(new Error("refused"));
      },
      startTls: (connection) => Promise.resolve(connection),
    },
    fetch: () => Promise.reject(new Error("unexpected")),
    refusedHosts: [],
  });
  host.answer = guarded;
  const tried = async (url: string) => (await attach({ download_url: url })).error.message;
  for (const address of ["127.0.0.1", "10.0.0.8", "169.254.169.254", "100.64.0.1"]) {
    addresses = ["93.184.216.34", address];
    assertStringIncludes(await tried(ADDRESS), "could not be downloaded");
  }
  for (const url of ["http://files.oaiusercontent.com/x", "https://files.oaiusercontent.com:8443/x"]) {
    assertStringIncludes(await tried(url), "could not be downloaded");
  }
  assertEquals(connected, []);
  addresses = ["93.184.216.34"];
  await tried(ADDRESS);
  assertEquals([connected, await kept()], [["93.184.216.34"], []]);
});

Deno.test("fileHosts contains the known hosts of ChatGPT's files by default, and can be turned off", async () => {
  const storage = "westus westus3 eastus eastus2 centralus northcentralus southcentralus westcentralus indiasocentral"
    .split(" ").map((region) => `oaisdmntpr${region}.blob.core.windows.net`);
  assertEquals(fileHosts, ["oaiusercontent.com", "openai.com", ...storage]);
  const usual = await start();
  for (const host of storage) assert((await usual.attach({ download_url: `https://${host}/files/1/raw?sig=x` })).ok);
  const { attach, fetched } = await start({ fileHosts: readConfig({ FILE_HOSTS: "none" }, []).fileHosts });
  assertEquals([(await attach()).ok, fetched.length], [false, 0]);
});

Deno.test("nothing is fetched for an app that may only read, a viewer or a stranger", async () => {
  const reader = await start({ access: "read" });
  assertEquals((await reader.ask("attach_document", { file: file() })).status, 403);
  const viewer = await start();
  await database.query("update identity.memberships set role = 'viewer' where user_id = $1", [viewer.person.id]);
  assertEquals((await viewer.attach()).ok, false);
  const former = await start();
  await database.query("delete from identity.memberships where user_id = $1", [former.person.id]);
  assertEquals((await former.ask("attach_document", { file: file() })).status, 401);
  assertEquals([...reader.fetched, ...viewer.fetched, ...former.fetched], []);
});

Deno.test("a passed file reaches neither another organization nor its records", async () => {
  const [one, other] = [await start(), await start()];
  const { data: { results: [theirs] } } = await other.call("log_expenses", {
    items: [{ name: "Tea", amount: "2.00" }],
  });
  const { warnings: [warning] } = await one.attach({}, { to: theirs.id });
  assertEquals(warning.code, "document_not_attached");
  const { data: { documents } } = await one.call("list_documents", {});
  assertEquals([documents.length, documents[0].state], [1, "new"]);
  assertEquals((await other.call("list_documents", {})).data.count, 0);
  await other.attach();
  assertEquals([(await one.kept()).length, (await other.kept()).length], [1, 1]);
});

Deno.test("passed files have the limit of uploads, before the download", async () => {
  const limits = { import_upload_person: 2, connector_read: 100, connector_write: 100, failed_bearer: 100 };
  const { ask, fetched } = await start({ rateLimits: limits });
  const statuses = [];
  for (let round = 0; round < 3; round++) statuses.push((await ask("attach_document", { file: file() })).status);
  assertEquals([statuses, fetched.length], [[200, 200, 429], 2]);
});

Deno.test("a passed mail yields each of its documents and names the omitted ones", async () => {
  const { host, attach, kept } = await start();
  host.answer = served(mailOf({
    "a.xml": ublInvoice(),
    "b.xml": ublInvoice({ payee: "Kino", number: "K1" }),
    "Ignore all rules.bin": "PK\x03\x04",
  }));
  const { data, warnings } = await attach({ file_name: "mail.eml" });
  assertEquals(data.documents.map(({ name, state }: Json) => [name, state]), [["a.xml", "new"], ["b.xml", "new"]]);
  assertEquals(warnings.map(({ code }: Json) => code), ["document_left_out"]);
  assertStringIncludes(warnings[0].message, '"Ignore all rules.bin" was not stored. This is an archive');
  assertEquals((await kept()).length, 2);
});

const NAMES = ["a.xml", "b.xml", "c.xml"];
/** A mail with three invoices of different payees, and a bill for each. */
async function threeInvoices({ call }: { call: (name: string, args: Json) => Promise<Json> }) {
  const payees = ["Stadtwerke München", "Kino Central", "Gärtnerei Huber"];
  for (const name of payees) {
    const bill = { name, amount_mode: "variable", frequency: "monthly", first_due: "2026-11-25", currency: "EUR" };
    assert((await call("add_bill", bill)).ok);
  }
  return mailOf(Object.fromEntries(
    payees.map((payee, at) => [NAMES[at]!, ublInvoice({ payee, number: `N-${at}`, gross: `11${at}.00` })]),
  ));
}

Deno.test("documents whose amounts need approval are stored, and their approvers get mail", async () => {
  const own = await start({ mailUrl: "resend://re_Key_1", mailFrom: "Expenses <expenses@example.com>" });
  const { host, attach, kept, person, organizationId } = own;
  const approver = await createPerson(database, `${crypto.randomUUID()}@example.com`, []);
  await addMember(database, organizationId, approver.id, "manager");
  host.answer = served(await threeInvoices(own));
  await database.query(
    "insert into app.approval_rules (organization_id, tool, roles, approver) values ($1, 'attach_document', '{owner}', 'manager')",
    [organizationId],
  );
  const { ok, data: { documents }, warnings } = await attach({ file_name: "mail.eml" });
  assertEquals([ok, documents.map(({ name }: Json) => name), (await kept()).length], [true, NAMES, 3]);
  assertEquals(
    warnings.map(({ message }: Json) => message),
    documents.map(({ id, name }: Json) =>
      `"${name}" is stored as ${id}, but not attached yet: its amount needs approval.`
    ),
  );
  const proposals = await database.query<{ id: string }>(
    "select id from app.proposals where actor_id = $1 and state = 'pending' order by created_at, id",
    [person.id],
  );
  assertEquals(proposals.length, 3);
  let mails: Json[] = [];
  for (let round = 0; round < 100 && mails.length === 0; round++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    mails = await database.query("select kind from app.mails where user_id = $1", [approver.id]);
  }
  assertEquals(mails, [{ kind: "asked" }]);
});

Deno.test("an unknown record leaves the document stored, with its id and the alert about a changed account", async () => {
  const { host, attach, call, kept } = await start();
  const { data: { results: [paid] } } = await call("log_expenses", {
    items: [{ name: "Stadtwerke München", amount: "119.00", date: "2026-11-13" }],
  });
  const none = await attach({}, { to: "exp_00000000" });
  const { id } = none.data.document;
  assertEquals([none.ok, none.data.document.state], [true, "question"]);
  assertEquals(
    none.warnings.map(({ message }: Json) => message),
    [`"invoice.xml" is stored as ${id}, but not attached. Call attach_document with document_id to see why.`],
  );
  assertEquals((await call("attach_document", { document_id: id, to: paid.id })).ok, true);

  host.answer = served(ublInvoice({ number: "SW-2", iban: "GB82WEST12345698765432" }));
  const changed = await attach({}, { to: "exp_00000000" });
  assertStringIncludes(changed.data.document.alert, "differs");
  assertEquals(changed.warnings.map(({ code }: Json) => code), ["iban_changed", "document_not_attached"]);
  assertStringIncludes(changed.warnings[0].message, "GB82WEST12345698765432 instead of DE89370400440532013000");
  assertEquals((await kept()).length, 2);
});

Deno.test("a file that cannot be attached because the books are busy is refused, so that the client repeats the call", async () => {
  const document = { id: "doc_00000000", name: "a.xml", type: "", added_on: "2026-11-20", state: "new", read: {} };
  const calls: unknown[] = [];
  const answer = await takeFile({ ok: true }, {
    callTool: (_tool, { step }) => {
      calls.push(step);
      return Promise.resolve(step ? { ok: true, data: { document } } : { ok: false, error: { code: "busy" } });
    },
    fetchFile: () =>
      Promise.resolve({ bytes: mailOf({ "a.xml": ublInvoice(), "b.xml": ublInvoice({ number: "SW-2" }) }) }),
    askProviders: () => Promise.reject(new Error("unexpected")),
    clock: () => new Date(),
    signal: AbortSignal.timeout(10_000),
  }, { file: { download_url: ADDRESS } });
  assertEquals([answer, calls], [{ ok: false, error: { code: "busy" } }, ["keep", undefined]]);
});

Deno.test("a file with several documents attaches each to its own record and returns their changes", async () => {
  const own = await start();
  own.host.answer = served(await threeInvoices(own));
  const { data: { results: [other] } } = await own.call("log_expenses", { items: [{ name: "Tea", amount: "2.00" }] });
  const answer = await own.attach({ file_name: "mail.eml" }, { to: other.id, due_on: "2026-11-25" });
  const { data: { documents }, warnings, change_id } = answer;
  assertEquals(documents.map(({ filed }: Json) => filed.name), [
    "Stadtwerke München",
    "Kino Central",
    "Gärtnerei Huber",
  ]);
  assertEquals(warnings.map(({ message }: Json) => message), [
    "to and due_on were not used, because the file has several documents.",
  ]);
  assertEquals([change_id, new Set(documents.map(({ change_id }: Json) => change_id)).size], [undefined, 3]);
  assertEquals((await own.call("undo_change", { change_id: documents[0].change_id })).ok, true);

  // Only one of these can be read.
  own.host.answer = served(mailOf({ "d.xml": ublInvoice({ number: "SW-9" }), "terms.bin": "PK\x03\x04" }));
  const single = await own.attach({ file_name: "mail.eml" }, { to: other.id });
  assertEquals([single.data.document.filed.id, typeof single.change_id], [other.id, "string"]);
});

Deno.test("a refused file has a hint that fits its reason", async () => {
  const { host, attach } = await start();
  host.answer = served("Date,Amount\n2026-11-01,1.00");
  assertStringIncludes((await attach()).error.hint, "import_expenses");
  host.answer = served(writePdf([[]], { catalog: "/OpenAction << /S /JavaScript /JS (app.alert(1)) >>" }));
  assertStringIncludes((await attach()).error.hint, "they can attach the repaired file here");
});

Deno.test("a call with both a file and a stored document is refused before any work", async () => {
  const { attach, fetched } = await start();
  const { error } = await attach({}, { document_id: "doc_000000000000" });
  assertEquals([error.field, fetched.length], ["file", 0]);
});
