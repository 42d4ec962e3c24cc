/** The inbound-mail function on a test's database, a stand-in for the mail service, and the job that reads mail. */
import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import { createInboundMailApp } from "../../../functions/inbound-mail/app.ts";
import { readConfig } from "../../../shared/config.ts";
import type { Database } from "../../../shared/db/client.ts";
import { createInboundStore } from "../../../shared/db/inbound_store.ts";
import { createLog } from "../../../shared/log.ts";
import { type Books, type Json, openBooks } from "../../_support/books.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { writeUbl } from "../../_support/documents/ubl.ts";
import { asDatabase, createJob, SECRET as CRON_SECRET } from "../cron-reminders/harness.ts";

export const PASSWORD = "password-of-the-mail-service";
export const DOMAIN = "in.example.com";
export const NOW = "2026-11-20T12:00:00Z";

const unexpected = () => Promise.reject(new Error("the door fetches nothing"));

export interface Door {
  request(init: RequestInit): Promise<Response>;
  lines: string[];
  config: ReturnType<typeof readConfig>;
}

export function openDoor(database: Database, url = `postmark://postmark:${PASSWORD}@${DOMAIN}`, now = NOW): Door {
  const lines: string[] = [];
  const config = readConfig({ NEXT_PUBLIC_SITE_URL: "http://127.0.0.1", INBOUND_URL: url }, []);
  const log = createLog((line) => lines.push(line));
  const app = createInboundMailApp({
    config,
    database,
    clock: () => new Date(now),
    log,
    fetch: unexpected,
    guardedFetch: unexpected,
  });
  return {
    lines,
    config,
    request: async (init) => await app.request("/api/mail/inbound", { method: "POST", ...init }),
  };
}

export interface TestMail {
  from: string;
  subject?: string;
  /** The verdicts of Postmark's filter. */
  tests?: string;
  /** The result of Postmark's SPF check. */
  spf?: string;
  /** Fields that the sender wrote. */
  forged?: string[];
  attachments?: { name: string; content: string | Uint8Array }[];
}

/** An invoice of a payee as XML. */
export const invoice = (number: string, amount = "84.20", seller = "Stadtwerke München GmbH"): string =>
  writeUbl({
    number,
    seller,
    issued: "2026-11-12",
    due: ["2026-11-25"],
    lines: [{ net: amount, rate: "0", category: "E" }],
    totals: { lines: amount, net: amount, tax: "0.00", gross: amount, payable: amount },
    taxes: [{ rate: "0", category: "E", net: amount, tax: "0.00" }],
  });

/** A mail as Postmark delivers it, with its servers' fields at the top. */
export function rawMail(
  { from, subject = "Fwd: Your invoice", tests, spf, forged = [], attachments }: TestMail,
): string {
  const parts = (attachments ?? [{ name: "invoice.xml", content: invoice("SW-1") }]).map(({ name, content }) =>
    [
      "--b",
      `Content-Type: application/octet-stream; name="${name}"`,
      "Content-Transfer-Encoding: base64",
      `Content-Disposition: attachment; filename="${name}"`,
      "",
      Buffer.from(content as string).toString("base64").replace(/.{76}/g, "$&\r\n"),
    ].join("\r\n")
  );
  return [
    "Received: by p-pm-inboundg02a.inbound.postmarkapp.com (Postfix, from userid 996)",
    "\tid 388B8406077; Fri, 20 Nov 2026 11:58:07 +0000 (UTC)",
    ...tests ? [`X-Spam-Tests: ${tests}`] : [],
    ...spf ? [`Received-SPF: ${spf}`] : [],
    "Received: from mail.example.com (mail.example.com [192.0.2.1])",
    "\tby p-pm-inboundg02a.inbound.postmarkapp.com (Postfix) with ESMTPS id 5BEC94391",
    ...forged,
    `From: ${from}`,
    `To: in+x@${DOMAIN}`,
    "Date: Fri, 20 Nov 2026 11:58:00 +0000",
    `Subject: ${subject}`,
    "MIME-Version: 1.0",
    `Content-Type: multipart/mixed; boundary="b"`,
    "",
    "--b",
    "Content-Type: text/plain",
    "",
    "See attached.",
    ...parts,
    "--b--",
    "",
  ].join("\r\n");
}

export const SIGNED = "DKIM_SIGNED,DKIM_VALID,DKIM_VALID_AU";

export const authorized = (password = PASSWORD): Record<string, string> => ({
  "authorization": `Basic ${btoa(`postmark:${password}`)}`,
  "content-type": "application/json",
});

let messages = 0;

/** The body of Postmark's request. */
export const posted = (raw: string, to: string, id = `message-${++messages}`): RequestInit => ({
  headers: authorized(),
  body: JSON.stringify({ MessageID: id, OriginalRecipient: to, RawEmail: raw, TextBody: "See attached." }),
});

export interface Inbox {
  books: Books;
  email: string;
  address: string;
  /** The facts on the owner's page. */
  page(by?: Books): Promise<Json>;
  change(action: string, target?: string, by?: Books): Promise<Json>;
  mails(): Promise<Json[]>;
}

export const emailOf = async (database: TestDatabase, books: Books): Promise<string> =>
  (await database.query<{ email: string }>("select email from identity.profiles where user_id = $1", [books.userId]))[
    0
  ]!
    .email;

/** Creates an organization with a mail address. */
export async function openInbox(database: TestDatabase, given?: Books): Promise<Inbox> {
  const books = given ?? await openBooks(database);
  const ask = (name: string, args: Record<string, unknown>, by: Books) =>
    database.asService<Json>(name, {
      user_id: by.userId,
      organization_id: books.organizationId,
      ...args,
      at: NOW,
    });
  const inbox: Inbox = {
    books,
    email: await emailOf(database, books),
    address: "",
    page: (by = books) => ask("read_inbound", {}, by),
    change: (action, target = "", by = books) => ask("change_inbound", { action, target }, by),
    mails: async () => (await inbox.page()).mails,
  };
  assertEquals(await inbox.change("rotate"), { outcome: "changed" });
  inbox.address = `in+${(await inbox.page()).token}@${DOMAIN}`;
  return inbox;
}

/** Runs the job's stage as its schedule does. @returns its counts. */
export async function readMails(database: TestDatabase, { now = NOW, elapsed, instead }: {
  now?: string;
  elapsed?: () => number;
  /** Replaces the database. */
  instead?: Database;
} = {}): Promise<Json> {
  const job = createJob({
    database: instead ?? asDatabase(database),
    fetch: () => Promise.reject(new Error("no fetch")),
    now: () => new Date(now),
    ...(elapsed && { elapsed }),
  });
  const response = await job.request("/api/cron/reminders?only=inbound", {
    headers: { authorization: `Bearer ${CRON_SECRET}` },
  });
  assertEquals(response.status, 200);
  const { ok } = await response.json();
  const [run] = await database.query<{ counts: Json }>(
    "select counts from jobs.job_runs where stage = 'inbound' order by id desc limit 1",
  );
  return { ok, ...run?.counts, lines: job.lines };
}

export const inboundStore = (database: TestDatabase) => createInboundStore(asDatabase(database));
