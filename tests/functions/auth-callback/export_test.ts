/** The export page and its downloads: access and contents. */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { BOOKS, PARTS } from "../../../shared/export/books.ts";
import { addMember } from "../../_support/books.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { readCsv, unzip } from "../../_support/unzip.ts";
import { accountTest, auditOf, onboarded } from "./account_harness.ts";
import { download } from "./export_harness.ts";
import { createPages, formsOf, over, signIn } from "./harness.ts";

const HOSTILE = [
  '=cmd|" /C calc"!A0',
  "+1+1",
  "＝1+1",
  'a "quoted", name\r\nover lines',
  "-2",
  "\tTab",
  "مصاريف \u200f(x)",
];

async function addExpenses(database: TestDatabase, organizationId: string, names: readonly string[]): Promise<void> {
  for (const [index, name] of names.entries()) {
    const [expense] = await database.query<{ id: string }>(
      "insert into app.expenses (id, organization_id, kind, name, payee, note, tags) values (app.new_id('exp'), $1, 'one_off', $2, $2, $2, array[$2]) returning id",
      [organizationId, name],
    );
    await database.query(
      `insert into app.payments (organization_id, expense_id, direction, amount_minor, currency, paid_on, tax_minor)
       values ($1, $2, $3, 1190, 'EUR', '2026-10-15', $4)`,
      [organizationId, expense!.id, index === 0 ? "refund" : "out", index < 2 ? 190 : null],
    );
  }
}

const join = (database: TestDatabase, organizationId: string, userId: string, role: string) =>
  addMember(database, organizationId, userId, role);

const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer());

accountTest("the export is one archive that other programs open", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const { organizationId } = mira;
  await addExpenses(database, organizationId, HOSTILE);
  const eva = await onboarded(pages, database, "eva@example.com");
  await addExpenses(database, eva.organizationId, ["Secret of Eva"]);
  const path = `/organizations/${organizationId}/export`;
  const response = await download(mira.browser, path, "everything");
  const { headers } = response;
  assertEquals([response.status, headers.get("content-type"), headers.get("cache-control")], [
    200,
    "application/zip",
    "no-store",
  ]);
  assertEquals(headers.get("content-disposition"), 'attachment; filename="books-2026-11-20.zip"');
  const files = unzip(await bytesOf(response));
  assertEquals([...files.keys()], [
    ...["README.txt", "schema.json", ...PARTS.flatMap((part) => [`${part}.jsonl`, `${part}.csv`]), "manifest.json"],
  ]);
  assert(![...files.values()].some((text) => text.includes("Secret of Eva") || text.includes("eva@example.com")));
  const schema = JSON.parse(files.get("schema.json")!);
  const manifest = JSON.parse(files.get("manifest.json")!);
  assertEquals(manifest.changed_meanwhile, false);
  for (const part of PARTS) {
    const lines = files.get(`${part}.jsonl`)!.split("\n").slice(0, -1).map((line) => JSON.parse(line));
    const [header, ...rows] = readCsv(files.get(`${part}.csv`)!);
    const columns = Object.keys(BOOKS[part]);
    assertEquals(header, columns, part);
    assertEquals(
      [rows.length, manifest.rows[`${part}.jsonl`], manifest.rows[`${part}.csv`]],
      Array(3).fill(lines.length),
    );
    assert(lines.every((line) => Object.keys(line).join() === columns.join()), part);
    assertEquals(schema.$defs[part].required, columns);
    assertStringIncludes(files.get("README.txt")!, `\n  ${part} `);
  }
  const names = files.get("expenses.jsonl")!.trimEnd().split("\n").map((line) => JSON.parse(line).name);
  assertEquals(names.toSorted(), HOSTILE.toSorted(), "JSON has them as they are");
  const csv = readCsv(files.get("expenses.csv")!);
  const at = csv[0]!.indexOf("name");
  assertEquals(
    csv.slice(1).map((row) => row[at]!).toSorted(),
    HOSTILE.map((name) => /^[=+@\t\r\n＝＋－＠-]/.test(name) ? `'${name}` : name).toSorted(),
    "no spreadsheet runs them",
  );
  assertEquals((await auditOf(database)).filter((event) => event === "books.exported").length, 1);
});

accountTest("the accountant's file has a period's payments, net, tax and gross", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const { organizationId } = mira;
  await addExpenses(database, organizationId, ["Returned", "Printer", "=1+1"]);
  const path = `/organizations/${organizationId}/export`;
  const response = await download(mira.browser, path, "payments", { period: "last_month" });
  assertEquals(
    response.headers.get("content-disposition"),
    'attachment; filename="expenses-2026-10-01-2026-10-31.csv"',
  );
  const [header, ...rows] = readCsv(await response.text());
  assertEquals(
    header!.join(),
    "date,payee,name,category,net,tax,gross,currency,base_amount,base_currency,reimbursement,link,id",
  );
  assertEquals(rows.map((row) => row.slice(0, 10)), [
    ["2026-10-15", "Returned", "Returned", "Uncategorized", "-10.00", "-1.90", "-11.90", "EUR", "-11.90", "EUR"],
    ["2026-10-15", "Printer", "Printer", "Uncategorized", "10.00", "1.90", "11.90", "EUR", "11.90", "EUR"],
    ["2026-10-15", "'=1+1", "'=1+1", "Uncategorized", "", "", "11.90", "EUR", "11.90", "EUR"],
  ]);
  assert(rows.every((row) => /^exp_/.test(row[12]!)));
  const lengths = async (fields: Record<string, string>) =>
    readCsv(await (await download(mira.browser, path, "payments", fields)).text()).length - 1;
  assertEquals(await lengths({ period: "this_year" }), 3);
  assertEquals(await lengths({ from: "2026-10-15", to: "2026-10-15" }), 3);
  for (const [from, to] of [["2026-10-16", "2026-10-15"], ["2026-02-30", "2026-10-15"], ["2026-10-15", ""]] as const) {
    assertEquals((await download(mira.browser, path, "payments", { from, to })).status, 400);
  }
});

accountTest(
  "a period without payments returns a page with the reason instead of an empty file",
  async (pages, database) => {
    const mira = await onboarded(pages, database);
    const { organizationId } = mira;
    await addExpenses(database, organizationId, ["Printer"]);
    const path = `/organizations/${organizationId}/export`;
    const response = await download(mira.browser, path, "payments", { period: "this_month" });
    assertEquals([response.status, response.headers.get("content-disposition")], [200, null]);
    const page = await response.text();
    assertStringIncludes(
      page.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " "),
      "There are no payments from 1 November 2026 to 30 November 2026, so there is nothing to download.",
    );
    const exported = async () => (await auditOf(database)).filter((event) => event === "books.exported").length;
    assertEquals(await exported(), 0);
    const again = await mira.browser.submit(page, 'value="payments"', { period: "last_month" });
    assertEquals(readCsv(await again.text()).length, 2, "the page offers the next try");
    assertEquals(await exported(), 1);
  },
);

accountTest(
  "the accountant's folder contains closed months with their documents and nobody else's",
  async (pages, database) => {
    const mira = await onboarded(pages, database);
    const { organizationId } = mira;
    await addExpenses(database, organizationId, ["Refund", 'Soup "hot"', "Tea"]);
    const eva = await onboarded(pages, database, "eva@example.com");
    const other = eva.organizationId;
    await addExpenses(database, other, ["Refund", "Secret of Eva"]);
    for (const [id, owner, name] of [[organizationId, mira.id, 'Soup "hot"'], [other, eva.id, "Secret of Eva"]]) {
      const [document] = await database.query<{ id: string }>(
        `insert into app.documents (organization_id, added_by, hash, name, type, size, expense_id)
       select $1, $2, repeat('a', 64), 'a/b invoice.pdf', 'application/pdf', 3, e.id
       from app.expenses as e where e.organization_id = $1 and e.name = $3 returning id`,
        [id, owner, name],
      );
      await database.query(
        "insert into app.document_files (document_id, organization_id, content) values ($1, $2, 'pdf')",
        [
          document!.id,
          id,
        ],
      );
    }
    const path = `/organizations/${organizationId}/export`;
    const october = { from: "2026-10-01", to: "2026-10-31", as: "folder" };
    const close = (day: string) =>
      database.query("update identity.organizations set closed_through = $2 where id = $1", [organizationId, day]);
    const text = async (fields: Record<string, string>) =>
      (await (await download(mira.browser, path, "payments", fields)).text()).replaceAll(/<[^>]*>/g, "")
        .replaceAll(/\s+/g, " ");
    assertStringIncludes(await text(october), "No month of the books is closed");
    await close("2026-09-30");
    assertStringIncludes(await text(october), "The books are closed through 30 September 2026 only");
    const asked = await download(mira.browser, path, "payments", { ...october, open_months: "yes" });
    await close("2026-10-31");
    const closed = await download(mira.browser, path, "payments", october);
    assertEquals(
      closed.headers.get("content-disposition"),
      'attachment; filename="accountant-2026-10-01-2026-10-31.zip"',
    );
    const files = unzip(await bytesOf(closed));
    assertEquals(unzip(await bytesOf(asked)), files);
    const [payments, ledger, journal, document, index] = [...files.keys()];
    assertEquals([payments, ledger, journal, index], [
      "payments.csv",
      "ledger.beancount",
      "hledger.journal",
      "documents.csv",
    ]);
    assertMatch(document!, /^documents\/2026-10-15-doc_[0-9a-z]+-a_b_invoice\.pdf$/);
    assertEquals([files.get(document!), readCsv(files.get(payments!)!).length], ["pdf", 4]);
    const [, [file, day, , name, amount]] = readCsv(files.get(index!)!) as [string[], string[]];
    assertEquals([file, day, name, amount], [document, "2026-10-15", 'Soup "hot"', "11.90"]);
    const entries = files.get(ledger!)!.replaceAll(/"exp_\w+"/g, '"exp"');
    assertStringIncludes(
      entries,
      String.raw`2026-10-15 * "Soup \"hot\"" "Soup \"hot\""` +
        '\n  id: "exp"\n  tax: 1.90 EUR\n  Expenses:Uncategorized  11.90 EUR\n  Assets:Unassigned  -11.90 EUR\n',
    );
    assertStringIncludes(entries, "  Expenses:Uncategorized  -11.90 EUR\n  Assets:Unassigned  11.90 EUR\n");
    assertStringIncludes(entries, "2026-10-15 open Expenses:Uncategorized\n2026-10-15 open Assets:Unassigned\n");
    const hledger = files.get(journal!)!.replaceAll(/\(exp_\w+\)/g, "(exp)");
    assert(hledger.startsWith("decimal-mark .\n\n2026-10-15 * (exp) Refund | Refund\n"));
    assertStringIncludes(
      hledger,
      '2026-10-15 * (exp) Soup "hot" | Soup "hot"\n    ; tax: 1.90 EUR\n' +
        "    Expenses:Uncategorized  11.90 EUR\n    Assets:Unassigned  -11.90 EUR\n\n",
    );
    assertStringIncludes(hledger, "account Expenses:Uncategorized\naccount Assets:Unassigned\n");
    assert(![...files.values()].some((one) => one.includes("Secret of Eva")));
  },
);

accountTest("an export requires role, membership and sign-in, but no plan", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const { organizationId } = mira;
  const path = `/organizations/${organizationId}/export`;
  const eva = await onboarded(pages, database, "eva@example.com");
  const anybody = await pages.browser().get(path);
  assertEquals([anybody.status, anybody.headers.get("location")], [303, `/login?next=${encodeURIComponent(path)}`]);
  const form = formsOf(
    await (await eva.browser.get(`/organizations/${eva.organizationId}/export`)).text(),
  )
    .find(({ html }) => html.includes('value="everything"'))!;
  const tries = async () => [
    (await eva.browser.get(path)).status,
    await (async () => {
      const response = await eva.browser.post(path, form.fields);
      await response.body?.cancel();
      return response.status;
    })(),
  ];
  assertEquals(await tries(), [404, 404], "a stranger");
  assertEquals((await eva.browser.get("/organizations/org_x'--/export")).status, 404);
  await join(database, organizationId, eva.id, "member");
  assertEquals(await tries(), [403, 403], "a member");
  for (const role of ["manager", "viewer"]) {
    await database.query("update identity.memberships set role = $2 where user_id = $1 and role <> 'owner'", [
      eva.id,
      role,
    ]);
    assertEquals(await tries(), [200, 200], role);
  }
  await database.query("update identity.organizations set trial_ends_at = '2026-01-01' where id = $1", [
    organizationId,
  ]);
  assertEquals(await tries(), [200, 200], "without a plan");
  await database.query("update auth.users set banned_until = '2030-01-01' where id = $1", [eva.id]);
  const [get, post] = await tries();
  assert(get! >= 400 && post! >= 400, "suspended");
  await database.query("update auth.users set banned_until = null where id = $1", [eva.id]);
  await database.query("delete from identity.memberships where user_id = $1 and organization_id = $2", [
    eva.id,
    organizationId,
  ]);
  assertEquals(await tries(), [404, 404], "removed");
});

accountTest("a download requires our own form, shown to this person", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const path = `/organizations/${mira.organizationId}/export`;
  const eva = await onboarded(pages, database, "eva@example.com");
  const { fields } = formsOf(
    await (await eva.browser.get(`/organizations/${eva.organizationId}/export`)).text(),
  ).find(({ html }) => html.includes('value="everything"'))!;
  assertEquals((await mira.browser.post(path, fields)).status, 403, "somebody else's form");
  assertEquals((await mira.browser.post(path, { what: "everything" })).status, 403, "no form");
  const page = await (await mira.browser.get(path)).text();
  const own = formsOf(page).find(({ html }) => html.includes('value="everything"'))!;
  const foreign = { "sec-fetch-site": "cross-site", "origin": "https://evil.example" };
  assertEquals((await mira.browser.post(path, own.fields, foreign)).status, 403, "another website");
  assertEquals((await mira.browser.post(path, { ...own.fields, what: "secrets" })).status, 400);
  // The URL alone returns only the page.
  assertMatch((await mira.browser.get(`${path}?what=everything`)).headers.get("content-type")!, /^text\/html/);
  assertEquals((await auditOf(database)).includes("books.exported"), false);
});

accountTest("downloads are limited by person", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const path = `/organizations/${mira.organizationId}/export`;
  const own = createPages(over(database), { rateLimits: { login_mail_address: 100, export_person: 2 } });
  own.provider.users.set("mira@example.com", { id: mira.id, email: "mira@example.com" });
  const { browser } = await signIn(own, "mira@example.com");
  const statuses = [];
  for (let n = 0; n < 3; n++) {
    const response = await download(browser, path, "payments");
    await response.body?.cancel();
    statuses.push(response.status);
  }
  assertEquals(statuses, [200, 200, 429]);
});

accountTest("a member removed during a download gets no further rows", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const path = `/organizations/${mira.organizationId}/export`;
  const reader = (await download(mira.browser, path, "everything")).body!.getReader();
  await reader.read();
  await database.query("delete from identity.memberships where user_id = $1", [mira.id]);
  await assertRejects(async () => {
    while (!(await reader.read()).done);
  });
});
