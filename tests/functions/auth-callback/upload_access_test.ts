/** Access to uploads, checked before the first byte is read, and size limits. */
import { addMember } from "../../_support/books.ts";
import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { accountTest, onboarded } from "./account_harness.ts";
import { type Browser, createPages, formsOf, over } from "./harness.ts";
import { csv, idIn, linkFor, send, uploadTest } from "./upload_harness.ts";

/** A page's text without the parts that differ by request. */
const said = (html: string) =>
  html.replace(/<style.*?<\/style>/gs, "").replaceAll(/nonce="[^"]*"|value="[^"]*"|[0-9a-f-]{36}/g, "");

/** A body that counts its read bytes. */
function counted(next: (taken: number) => Uint8Array<ArrayBuffer> | undefined) {
  const body = { taken: 0, stream: undefined as unknown as ReadableStream<Uint8Array<ArrayBuffer>> };
  body.stream = new ReadableStream({
    pull(controller) {
      const chunk = next(body.taken);
      if (!chunk) return controller.close();
      body.taken += chunk.byteLength;
      controller.enqueue(chunk);
    },
  }, { highWaterMark: 0 });
  return body;
}

const TYPE = { "content-type": "multipart/form-data; boundary=x" };
const utf8 = new TextEncoder();
const BEGIN = utf8.encode('--x\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n');
const MEGABYTE = new Uint8Array(1024 * 1024).fill(97);
/** A file without an end. */
const endless = () => counted((taken) => taken === 0 ? BEGIN : MEGABYTE);

/** Sends a file that must not be read, and returns the page's text. */
async function refused(browser: Browser, path: string, status: number, headers: Record<string, string> = {}) {
  const body = endless();
  const response = await browser.send(path, body.stream, { ...TYPE, ...headers });
  assertEquals([response.status, body.taken], [status, 0], path);
  return await response.text();
}

uploadTest("uploading to another person's import fails like uploading to an unknown one", async (test) => {
  const { pages, database, mira } = test;
  const path = await linkFor(test, mira);
  const anybody = pages.browser();
  for (const answer of [await anybody.get(path), await anybody.send(path, endless().stream, TYPE)]) {
    assertEquals([answer.status, answer.headers.get("location")], [303, `/login?next=${encodeURIComponent(path)}`]);
  }
  const eva = await onboarded(pages, database, "eva@example.com");
  await addMember(database, mira.organizationId, eva.id, "member");
  const zoe = await onboarded(pages, database, "zoe@example.com");
  for (const { browser } of [eva, zoe]) {
    const nowhere = "/account/import/imp_0123456789ab";
    const none = said(await (await browser.get(nowhere)).text()).replaceAll(nowhere, path);
    const found = await browser.get(path);
    assertEquals([found.status, said(await found.text())], [404, none]);
    assertEquals(said(await refused(browser, path, 404)), none);
  }
  assertEquals((await mira.browser.get("/account/import/imp_x'--")).status, 404);
  assertEquals((await mira.browser.get(path)).status, 200, "it still is hers");
});

uploadTest("a link expires after half an hour", async (test) => {
  const { pages, mira } = test;
  const path = await linkFor(test, mira);
  pages.clock.now = new Date(pages.clock.now.getTime() + 30 * 60_000 - 1);
  const form = await (await mira.browser.get(path)).text();
  assert(form.includes('type="file"'));
  pages.clock.now = new Date(pages.clock.now.getTime() + 1);
  assertEquals((await mira.browser.get(path)).status, 404);
  assertStringIncludes(await refused(mira.browser, path, 404), "more than 30 minutes old");
});

uploadTest("membership, plan and suspension are checked when the file is sent", async (test) => {
  const { database, mira } = test;
  const path = await linkFor(test, mira);
  const trial = "update identity.organizations set trial_ends_at = $2 where id = $1";
  await database.query(trial, [mira.organizationId, "2026-01-01T00:00:00Z"]);
  assertStringIncludes(await refused(mira.browser, path, 403), "Choose a plan");
  assertEquals((await mira.browser.get(path)).status, 403);
  await database.query(trial, [mira.organizationId, "2027-01-01T00:00:00Z"]);
  await database.query("update auth.users set banned_until = '2030-01-01' where id = $1", [mira.id]);
  await refused(mira.browser, path, 403);
  await database.query("update auth.users set banned_until = null where id = $1", [mira.id]);
  await database.query("delete from identity.memberships where user_id = $1", [mira.id]);
  assertStringIncludes(await refused(mira.browser, path, 403), "no longer in that organization");
});

uploadTest("after a plan's end or during deletion, the page names the person who can change that", async (test) => {
  const { pages, database, mira } = test;
  const eva = { ...await onboarded(pages, database, "eva@example.com"), organizationId: mira.organizationId };
  await addMember(database, mira.organizationId, eva.id, "member");
  const path = await linkFor(test, eva);
  const textOf = (html: string) => html.replaceAll(/<style.*?<\/style>/gs, "").replaceAll(/<[^>]+>/g, "");
  for (
    const [change, words] of [
      ["trial_ends_at = '2026-01-01'", [
        "doesn’t include adding or changing anything. Its owner, mira@example.com, can choose another one.",
      ]],
      ["deletes_at = '2026-12-04T10:00:00Z', plan = 'team'", [
        "will be deleted on 4 December 2026. Until then",
        "Only its owner, mira@example.com, can stop that.",
      ]],
    ] as const
  ) {
    await database.query(`update identity.organizations set ${change} where id = $1`, [mira.organizationId]);
    const opened = await eva.browser.get(path);
    assertEquals(opened.status, 403);
    for (const html of [await opened.text(), await refused(eva.browser, path, 403)]) {
      for (const said of words) assertStringIncludes(textOf(html), said);
      assertEquals(formsOf(html).map(({ action }) => action).filter((action) => action !== "/logout"), []);
    }
  }
});

uploadTest("only our own form, shown to this person, is accepted", async (test) => {
  const { pages, database, mira } = test;
  const path = await linkFor(test, mira);
  const other = { "sec-fetch-site": "cross-site", "origin": "https://evil.example" };
  assertStringIncludes(await refused(mira.browser, path, 403, other), "another website");
  const eva = await onboarded(pages, database, "eva@example.com");
  const { fields } = formsOf(await (await eva.browser.get(await linkFor(test, eva))).text()).at(-1)!;
  for (const token of [undefined, "", "a.b", fields.form_token!]) {
    const body = new FormData();
    if (token !== undefined) body.set("form_token", token);
    body.set("file", csv());
    assertEquals((await mira.browser.send(path, body)).status, 403, token);
    const going = await mira.browser.post(path, token === undefined ? {} : { form_token: token });
    assertEquals(going.status, 403, token);
  }
  const [batch] = await database.query("select state from app.import_batches where id = $1", [idIn(path)]);
  assertEquals(batch, { state: "waiting" });
});

uploadTest("a file that is too large is refused by its declared or its received length", async (test) => {
  const { mira, database } = test;
  const path = await linkFor(test, mira);
  const large = String(25 * 1024 * 1024 + 64 * 1024 + 1);
  assertStringIncludes(await refused(mira.browser, path, 413, { "content-length": large }), "larger than 10 MB");
  const declarations: Record<string, string>[] = [{}, { "content-length": "10" }, { "content-length": "nonsense" }];
  for (const declared of declarations) {
    const body = endless();
    const response = await mira.browser.send(path, body.stream, { ...TYPE, ...declared });
    assertEquals(response.status, 413);
    assert(body.taken < 28 * 1024 * 1024, `${body.taken} bytes were taken of it`);
  }
  // A file in the largest form, which itself exceeds the limit.
  const slightly = csv("x".repeat(10 * 1024 * 1024 + 1));
  assertEquals((await send(mira.browser, path, slightly)).status, 413);
  const [batch] = await database.query("select state, file from app.import_batches");
  assertEquals(batch, { state: "waiting", file: null });
});

uploadTest("a truncated or malformed form leaves the import waiting", async (test) => {
  const { mira, database } = test;
  const path = await linkFor(test, mira);
  const broken = counted((taken) => taken === 0 ? BEGIN : undefined);
  assertEquals((await mira.browser.send(path, broken.stream, TYPE)).status, 400);
  const lost = counted((taken) => {
    if (taken > 0) throw new TypeError("connection reset");
    return BEGIN;
  });
  const response = await mira.browser.send(path, lost.stream, TYPE);
  assertEquals(response.status, 400);
  assertStringIncludes(await response.text(), "arrived incomplete");
  for (const type of ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=y"]) {
    const body = utf8.encode("--x\r\n\r\n--x--\r\n");
    assertEquals((await mira.browser.send(path, body, { "content-type": type })).status, 400, type);
  }
  assertEquals((await mira.browser.send(path, "{}", { "content-type": "application/json" })).status, 415);
  const [batch] = await database.query("select state, file from app.import_batches");
  assertEquals(batch, { state: "waiting", file: null });
});

accountTest("a person's uploads are limited before they are read", async (_, database) => {
  const pages = createPages(over(database), { rateLimits: { import_upload_person: 2 } });
  const mira = await onboarded(pages, database, "mira@example.com");
  const path = await linkFor({ pages, database }, mira);
  for (const status of [400, 400]) assertEquals((await send(mira.browser, path, undefined)).status, status);
  const page = await refused(mira.browser, path, 429);
  assertStringIncludes(page, "Too many attempts.");
  assertFalse(page.includes('type="file"'));
  const eva = await onboarded(pages, database, "eva@example.com");
  assertEquals((await send(eva.browser, await linkFor({ pages, database }, eva), undefined)).status, 400);
});
