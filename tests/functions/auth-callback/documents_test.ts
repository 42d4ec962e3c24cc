/** Documents on the pages: uploaded through a link, reported one by one, answered and downloaded. */
import { addMember } from "../../_support/books.ts";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { ublInvoice } from "../../fixtures/ubl_invoice.ts";
import { writeMail } from "../../_support/documents/mail.ts";
import { writePdf } from "../../_support/documents/pdf.ts";
import { onboarded, runTool } from "./account_harness.ts";
import { type Browser, formsOf } from "./harness.ts";
import { csv, linkFor, send, type UploadTest, uploadTest } from "./upload_harness.ts";

const text = (html: string) =>
  html.replace(/<(style|title)\b.*?<\/\1>|<[^>]+>/gs, " ").replace(/\s+/g, " ").replaceAll("&#39;", "'");

const xml = (content = ublInvoice(), name = "power.xml") => new File([content], name, { type: "text/xml" });

/** Opens the link and sends all files with one form. */
async function sendAll(browser: Browser, path: string, files: File[]): Promise<Response> {
  const [form] = formsOf(await (await browser.get(path)).text()).filter(({ html }) => html.includes('type="file"'));
  const body = new FormData();
  for (const [name, value] of Object.entries(form!.fields)) if (name !== "file") body.set(name, value);
  for (const file of files) body.append("file", file);
  return await browser.send(form!.action, body);
}

const dayFrom = (test: UploadTest, days: number) =>
  new Date(test.pages.clock.now.getTime() + days * 86_400_000).toISOString().slice(0, 10);

/** A variable bill that is due in five days, and its invoice. */
async function power(test: UploadTest, more: Parameters<typeof ublInvoice>[0] = {}) {
  const due = dayFrom(test, 5);
  const { data } = await runTool(test, test.mira, "add_bill", {
    name: "Power",
    payee: "Stadtwerke München",
    amount_mode: "variable",
    frequency: "monthly",
    first_due: due,
  });
  return { billId: data.bill.id as string, invoice: ublInvoice({ issued: dayFrom(test, -3), due, ...more }) };
}

const pathIn = (html: string) => /href="(\/account\/documents\/doc_[0-9a-z]+)"/.exec(html)![1]!;

uploadTest("each uploaded document is reported, and a certain match is attached without a payment", async (test) => {
  const { mira, database } = test;
  const { billId, invoice } = await power(test);
  const path = await linkFor(test, mira);
  const page = await (await mira.browser.get(path)).text();
  assertStringIncludes(text(page), "Invoices and receipts: PDF, pictures");
  const bakery = ublInvoice({ payee: "Bakery", number: "B1", issued: dayFrom(test, -2), due: dayFrom(test, 9) });
  const sent = await sendAll(mira.browser, path, [
    xml(invoice),
    xml(bakery, "bakery.xml"),
    xml("<nothing/>", "odd.xml"),
    csv(),
  ]);
  assertEquals(sent.status, 200);
  const html = await sent.text();
  const told = text(html);
  for (
    const said of [
      "2 documents received",
      "power.xml From Stadtwerke München GmbH",
      "To pay €119.00",
      "Belongs to Power",
      "bakery.xml From Bakery",
      "Nothing that you see in the books matches it",
      "odd.xml This file can’t be read",
      "october.csv This file can’t be read",
    ]
  ) assertStringIncludes(told, said);
  const { data: { bills } } = await runTool(test, mira, "list_bills", { bill_id: billId, limit: 25 });
  assertEquals([bills[0].amount, bills[0].state], ["119.00", "upcoming"]);
  const [{ payments }] = await database.query<{ payments: number }>(
    "select count(*)::int as payments from app.payments",
  ) as [{ payments: number }];
  assertEquals(payments, 0);

  const document = await (await mira.browser.get(pathIn(html))).text();
  assertStringIncludes(text(document), "Belongs to Power");
  const file = await mira.browser.get(`${pathIn(html)}/file`);
  assertEquals(await file.text(), invoice);
  assertEquals(
    ["content-type", "content-disposition", "content-security-policy", "x-content-type-options", "cache-control"].map((
      name,
    ) => file.headers.get(name)),
    [
      "application/xml",
      "attachment; filename=\"power.xml\"; filename*=UTF-8''power.xml",
      "sandbox; default-src 'none'",
      "nosniff",
      "no-store",
    ],
  );
  // The link still accepts a statement.
  assertEquals((await send(mira.browser, path, csv())).status, 303);
});

uploadTest("the same file uploaded twice at once becomes one document", async (test) => {
  const { mira, database } = test;
  const { invoice } = await power(test);
  const path = await linkFor(test, mira);
  const answers = await Promise.all([1, 2].map(() => sendAll(mira.browser, path, [xml(invoice), xml(invoice)])));
  for (const answer of answers) assertStringIncludes(text(await answer.text()), "Belongs to Power");
  const [kept] = await database.query(
    "select count(*)::int as documents, (select count(*)::int from app.document_files) as files from app.documents",
  );
  assertEquals(kept, { documents: 1, files: 1 });
});

uploadTest("a click answers a question, and no is remembered", async (test) => {
  const { mira } = test;
  const { billId, invoice } = await power(test);
  await runTool(test, mira, "update_bill", { bill_id: billId, set: { amount_mode: "fixed", amount: "90.00" } });
  const page = await (await sendAll(mira.browser, await linkFor(test, mira), [xml(invoice)])).text();
  assertStringIncludes(text(page), "Which of these does it belong to?");
  const path = pathIn(page);
  const to = formsOf(page).find(({ action }) => action === path)!;
  const none = await mira.browser.post(path, { ...to.fields, to: "none" });
  assertEquals([none.status, none.headers.get("location")], [303, path]);
  const declined = await (await mira.browser.get(path)).text();
  assertStringIncludes(text(declined), "Nothing that you see in the books matches it");
  assertEquals((await mira.browser.post(path, { ...to.fields, to: `${billId}:${dayFrom(test, 5)}` })).status, 303);
  assertStringIncludes(text(await (await mira.browser.get(path)).text()), "Belongs to Power");
  assertEquals(
    (await mira.browser.post(path, { ...to.fields, to: "exp_000000000000" })).headers.get("location"),
    `${path}?news=refused`,
  );
  assertEquals((await mira.browser.post(path, { ...to.fields, to: "'; drop" })).status, 400);
});

uploadTest("the page names a changed IBAN first", async (test) => {
  const { mira } = test;
  const { invoice } = await power(test);
  const path = await linkFor(test, mira);
  await sendAll(mira.browser, path, [xml(invoice)]);
  const next = ublInvoice({
    number: "SW-2",
    issued: dayFrom(test, -1),
    due: dayFrom(test, 36),
    iban: "GB82WEST12345698765432",
  });
  const page = text(await (await sendAll(mira.browser, path, [xml(next)])).text());
  assertStringIncludes(page, "Stop before you pay.");
  assertStringIncludes(page, "GB82WEST12345698765432 , not DE89370400440532013000");
});

uploadTest("a stranger, another tenant and a former member see no document", async (test) => {
  const { mira, pages, database } = test;
  const { invoice } = await power(test);
  const path = pathIn(await (await sendAll(mira.browser, await linkFor(test, mira), [xml(invoice)])).text());
  const zoe = await onboarded(pages, database, "zoe@example.com");
  const eva = await onboarded(pages, database, "eva@example.com");
  await addMember(database, mira.organizationId, eva.id, "member");
  assertEquals((await eva.browser.get(path)).status, 200, "a member sees a document of a bill that they see");
  await database.query("delete from identity.memberships where user_id = $1 and organization_id = $2", [
    eva.id,
    mira.organizationId,
  ]);
  for (const browser of [zoe.browser, eva.browser]) {
    for (const one of [path, `${path}/file`, "/account/documents/doc_0123456789ab", "/account/documents/x"]) {
      assertEquals((await browser.get(one)).status, 404, one);
    }
    const form = formsOf(await (await browser.get("/account")).text()).find(({ fields }) => fields.form_token)!;
    assertEquals((await browser.post(path, { ...form.fields, to: "none" })).status, 404);
  }
  assertEquals((await pages.browser().get(`${path}/file`)).status, 303);
});

uploadTest("more than 20 files, or a larger one, are refused", async (test) => {
  const { mira, database } = test;
  const path = await linkFor(test, mira);
  const many = Array.from({ length: 21 }, (_, n) => xml(ublInvoice({ number: `${n}` }), `${n}.xml`));
  assertEquals((await sendAll(mira.browser, path, many)).status, 413);
  const [{ documents }] = await database.query<{ documents: number }>(
    "select count(*)::int as documents from app.documents",
  ) as [{ documents: number }];
  assertEquals(documents, 0);
  const large = new File([new Uint8Array(10 * 1024 * 1024 + 1)], "large.pdf");
  assertEquals((await sendAll(mira.browser, path, [xml(), large])).status, 413);
  const twenty = text(await (await sendAll(mira.browser, path, many.slice(0, 20))).text());
  assertStringIncludes(twenty, "20 documents received");
  // The largest file that a form may contain.
  const photo = new Uint8Array(10 * 1024 * 1024);
  photo.set([0xff, 0xd8, 0xff, 0xe0]);
  const kept = text(await (await sendAll(mira.browser, path, [new File([photo], "photo.jpg")])).text());
  assertStringIncludes(kept, "1 document received");
});

uploadTest("the books show documents without a record and link to the upload page", async (test) => {
  const { mira } = test;
  const { invoice } = await power(test);
  const bakery = ublInvoice({ payee: "Bakery", number: "B1", issued: dayFrom(test, -2), due: dayFrom(test, 9) });
  await sendAll(mira.browser, await linkFor(test, mira), [xml(invoice), xml(bakery, "bakery.xml")]);
  const page = await (await mira.browser.get("/books")).text();
  assertStringIncludes(text(page), "Documents to sort Bakery Added on 20 November 2026");
  assertStringIncludes(text(page), "Matches nothing in your books");
  assertEquals(page.match(/\/account\/documents\//g)?.length, 1, "an attached one is not to sort");
  const pressed = await mira.browser.submit(page, "Upload documents", { action: "upload" });
  assertEquals(pressed.status, 303);
  assertStringIncludes(
    await (await mira.browser.get(pressed.headers.get("location")!)).text(),
    'type="file"',
  );
});

uploadTest("PDFs, pictures and mails are stored and served as downloads, and show their facts", async (test) => {
  const { mira } = test;
  const file = (content: string | Uint8Array, name: string) =>
    new File([new Uint8Array(typeof content === "string" ? new TextEncoder().encode(content) : content)], name);
  const { invoice } = await power(test);
  const photo = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 1);
  const html = await (await sendAll(mira.browser, await linkFor(test, mira), [
    file(writePdf([[]], { attachments: [{ name: "factur-x.xml", content: invoice }] }), "power.pdf"),
    file(photo, "receipt.exe"),
    file(
      writeMail({
        parts: [{ type: "text/xml", name: "../inner.xml", content: ublInvoice({ payee: "Bakery", number: "B1" }) }],
      }),
      "mail.eml",
    ),
    file(writePdf([[]], { catalog: "/OpenAction<</S/JavaScript>>" }), "script.pdf"),
    file(writePdf([[]], { trailer: "/Encrypt 1 0 R" }), "locked.pdf"),
  ])).text();
  const told = text(html);
  for (
    const said of [
      "3 documents received",
      "power.pdf From Stadtwerke München GmbH",
      "Belongs to Power",
      "receipt.exe Belongs to Nothing could be read from it.",
      "inner.xml From Bakery",
      "script.pdf This PDF contains a script or a program",
      "locked.pdf This PDF is protected by a password. Open it, print it into a new PDF",
    ]
  ) assertStringIncludes(told, said);
  const paths = [...html.matchAll(/href="(\/account\/documents\/doc_[0-9a-z]+)"/g)].map(([, path]) => path!);
  const served = await Promise.all(paths.map((path) => mira.browser.get(`${path}/file`)));
  assertEquals(
    served.map(({ headers }) => [headers.get("content-type"), headers.get("content-disposition")!.split(";")[0]]),
    [["application/pdf", "attachment"], ["image/jpeg", "attachment"], ["application/xml", "attachment"]],
  );
  assertEquals(
    served.map(({ headers }) => headers.get("content-security-policy")),
    Array(3).fill("sandbox; default-src 'none'"),
  );
  assertEquals(new Uint8Array(await served[1]!.arrayBuffer()), photo);
});
