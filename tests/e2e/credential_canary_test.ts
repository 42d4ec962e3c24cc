/**
 * The life of a credential on a running stack, with a provider that echoes it in every response: a person enters it on
 * the page, the page tries, refuses and stores it, and the job and the tool use it. The test then searches all data
 * that the stack has sent or stored.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Buffer } from "node:buffer";
import { PGlite } from "@electric-sql/pglite";
import { extensions, parsers, pgliteDatabase } from "../../local/database/pglite.ts";
import { postgresDatabase } from "../../local/database/postgres.ts";
import type { SqlDatabase } from "../../local/database/sql.ts";
import { findForm, type FormBrowser, type Page } from "../../local/form_browser.ts";
import { signIn, startStack, type TestStack } from "../_support/stack.ts";
import { connectFor, personOf } from "./person.ts";

/** Its last four characters appear on purpose, so search for the rest. */
const CANARY = "c4n4ry0f7h3d33pm1n35hums0n";
const CREDENTIAL = `dop_v1_${CANARY}wxyz`;
/** Well-formed, but no provider accepts it. */
const REFUSED = `dop_v1_${CANARY}0000`;

type Mood = "accepts" | "refuses" | "fails" | "answers a page" | "redirects" | "asks to wait";

/** DigitalOcean, with responses that echo all input. */
function startLoudProvider() {
  const loud = { mood: "accepts" as Mood, heard: [] as string[] };
  const months = Array.from({ length: 4 }, (_, back) => {
    const now = new Date();
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7);
  });
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    const said = request.headers.get("authorization") ?? "";
    loud.heard.push(said);
    const headers = { "x-echo": said, "retry-after": "60" };
    const echo = { error: said, message: `You said ${said}` };
    const mood = said.includes(REFUSED) ? "refuses" : loud.mood;
    switch (mood) {
      case "accepts":
        return Response.json({
          ...echo,
          invoices: months.map((month) => ({ invoice_uuid: said, amount: "43.21", invoice_period: month, note: said })),
          links: {},
        }, { headers: { "x-echo": said } });
      case "refuses":
        return Response.json(echo, { status: 401, headers: { "x-echo": said } });
      case "fails":
        return Response.json(echo, { status: 500, headers: { "x-echo": said } });
      case "answers a page":
        return new Response(`<html>${said}</html>`, { headers: { "x-echo": said } });
      case "redirects":
        return new Response(said, { status: 302, headers: { location: `/?${encodeURIComponent(said)}` } });
      case "asks to wait":
        return Response.json(echo, { status: 429, headers });
    }
  });
  return Object.assign(loud, { url: `http://127.0.0.1:${server.addr.port}`, stop: () => server.shutdown() });
}

/** Every encoding of the canary: plain, hex, and base64 at any offset. */
const SHAPES: Record<string, string> = {
  "in plain": CANARY,
  "in hex": Buffer.from(CANARY).toString("hex"),
  ...Object.fromEntries(
    [0, 1, 2].map((offset) => [
      `in base64 at ${offset}`,
      // The characters at both ends also depend on the neighboring bytes.
      btoa("x".repeat(offset) + CANARY).slice(offset === 0 ? 0 : offset + 1, -4),
    ]),
  ),
};

function assertAbsent(where: string, text: string): void {
  for (const [how, shape] of Object.entries(SHAPES)) assert(!text.includes(shape), `${where}: found ${how}`);
}

async function* rowsOf(database: SqlDatabase): AsyncGenerator<{ table: string; text: string }> {
  const tables = await database.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'm') and n.nspname not in ('information_schema') and n.nspname not like 'pg\\_toast%' and c.relispartition is false`,
  );
  for (const { name } of tables) {
    for (const { text } of await database.query<{ text: string }>(`select t::text as text from ${name} as t`)) {
      yield { table: name, text };
    }
  }
}

/** A folder's files as single-byte text. */
async function* filesOf(folder: string): AsyncGenerator<{ path: string; text: string }> {
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* filesOf(path);
    if (isFile) yield { path, text: new TextDecoder("latin1").decode(await Deno.readFile(path)) };
  }
}

const openStored = async (stack: TestStack): Promise<SqlDatabase> =>
  stack.database_url
    ? postgresDatabase(stack.database_url)
    : await pgliteDatabase(new PGlite({ dataDir: `${stack.folder}/postgres`, extensions, parsers }));

async function runJob(stack: TestStack, path: string): Promise<string> {
  const response = await fetch(`${stack.supabase_url}/api/cron/${path}`, {
    headers: { authorization: `Bearer ${stack.cron_secret}` },
  });
  return JSON.stringify([...response.headers]) + await response.text();
}

Deno.test("test of the test: the canary is found in every encoding", () => {
  const found = (text: string) => Object.values(SHAPES).some((shape) => text.includes(shape));
  const texts = [
    CREDENTIAL,
    Buffer.from(CREDENTIAL).toString("hex"),
    ...["", "a", "ab"].map((before) => btoa(before + CREDENTIAL)),
  ];
  for (const text of texts) assert(found(text), text);
  assert(!found("dop_v1_another"));
});

Deno.test("a credential is stored only encrypted", async () => {
  const provider = startLoudProvider();
  const stack = await startStack({
    args: ["--no-schedules"],
    env: { PROVIDER_BASES: `digitalocean=${provider.url}` },
  });
  const answers: { of: string; text: string }[] = [];
  const note = (of: string, answer: unknown) => {
    answers.push({ of, text: typeof answer === "string" ? answer : JSON.stringify(answer) });
    return answer;
  };
  try {
    const { email } = stack.demo!;
    const { browser } = await signIn(stack, email, { next: "/account" });
    const { client, call } = await connectFor(personOf(stack, email), stack.mcp_url);
    const tool = async (name: string, args: Record<string, unknown> = {}) => {
      const answer = await call(name, args);
      note(name, answer);
      return answer;
    };
    const open = async (path: string) => note(path, await browser.open(path)) as Page;
    const added = await tool("add_bill", {
      name: "Servers",
      amount_mode: "variable",
      currency: "USD",
      frequency: "monthly",
      first_due: new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10),
      remind_days_before: 5,
    });
    const billId = added.data.bill.id;
    const update = await tool("update_bill", {
      bill_id: billId,
      provider: { action: "connect", provider: "Digital Ocean" },
    });
    const connectUrl: string = update.data.connect_url;

    // The person enters it on the page, which refuses it in every way.
    {
      for (const mood of ["refuses", "fails", "answers a page", "redirects", "asks to wait"] as const) {
        provider.mood = mood;
        const page = await enter(browser, connectUrl, CREDENTIAL);
        assertStringIncludes(page.html, "Nothing was saved", mood);
        note(`page when it ${mood}`, page);
      }
      const malformed = await enter(browser, connectUrl, `${CANARY} and a space`);
      assertStringIncludes(malformed.html, "Nothing was saved");
      note("page of a malformed one", malformed);
      for (const address of ["https://169.254.169.254/latest", "https://localhost/", `${provider.url}/`]) {
        const page = await browser.open(`/account/providers/connect?bill=${billId}&provider=http_json`);
        const inside = await browser.submit(page, findForm(page, ({ fields }) => "credential_url" in fields), {
          fill: { credential_url: address, credential_token: CREDENTIAL },
        });
        assertStringIncludes(inside.html, "Nothing was saved", address);
        note(`page of ${address}`, inside);
      }
      const refused = await enter(browser, connectUrl, REFUSED);
      assertStringIncludes(refused.html, "DigitalOcean doesn’t accept what you entered");
      note("page of a wrong one", refused);
    }

    // The page stores it, and people view the pages.
    {
      provider.mood = "accepts";
      const done = await enter(browser, connectUrl, CREDENTIAL);
      assertEquals([done.status, done.url.pathname], [200, "/account/providers/connected"]);
      note("connected", done);
      assertMatch((await open("/account")).html, /Team …wxyz/);
      await open(connectUrl);
      note("form of a site in between", await sendFromElsewhere(stack, browser, connectUrl));
    }

    // The job and the tool use it, with success and with failures.
    {
      const heard = provider.heard.length;
      note("job", await runJob(stack, "provider-sync"));
      await tool("sync_bill_amounts", { bill_ids: [billId] });
      provider.mood = "answers a page";
      note("failing job", await runJob(stack, `provider-sync?period=${monthBack(2)}`));
      provider.mood = "refuses";
      note("refused job", await runJob(stack, `provider-sync?period=${monthBack(3)}`));
      assert(provider.heard.slice(heard).some((said) => said === `Bearer ${CREDENTIAL}`), "it was never used");
      for (const name of ["sync_bill_amounts", "list_bills", "review_bills", "list_changes"]) {
        await tool(name, {}).catch((error) => note(name, String(error)));
      }
      await tool("get_context", { include: ["provider_links", "recent_changes", "settings", "members"] });
      assertMatch((await open("/account")).html, /no longer accepts our key/);
      await open(`/account/providers/connect?bill=${billId}`);
    }

    // Mails mention the connection.
    {
      note("reminders", await runJob(stack, "reminders"));
      const mails = await (await fetch(stack.mail_url!)).text();
      assertStringIncludes(mails, "Servers");
      note("mails", mails);
    }
    await client.close();
    await stack.stop({ keep: true });

    // No answer, page, address or mail contains it.
    {
      assert(answers.length > 20);
      for (const { of, text } of [...answers, { of: "connect_url", text: connectUrl }]) assertAbsent(of, text);
    }

    // The log does not contain it.
    {
      assertStringIncludes(stack.log(), "provider_tried");
      assertAbsent("log", stack.log());
    }

    // One row contains it, encrypted.
    {
      const database = await openStored(stack);
      let rows = 0;
      let envelopes = 0;
      for await (const { table, text } of rowsOf(database)) {
        rows++;
        if (table === "app.provider_credentials") envelopes++;
        assertAbsent(table, text);
      }
      await database.close();
      // The demo's own link also has a credential.
      assertEquals(envelopes, 2);
      assert(rows > 1000, `only ${rows} rows were looked at`);
    }

    // No file of the stack contains it.
    {
      for await (const { path, text } of filesOf(stack.folder)) assertAbsent(path, text);
    }
  } finally {
    await provider.stop();
    await Deno.remove(stack.folder, { recursive: true }).catch(() => {});
  }
});

async function enter(browser: FormBrowser, connectUrl: string, token: string): Promise<Page> {
  const page = await browser.open(connectUrl);
  return await browser.submit(page, findForm(page, ({ fields }) => "credential_token" in fields), {
    fill: { credential_token: token },
  });
}

/** The same form without its token. */
async function sendFromElsewhere(stack: TestStack, browser: FormBrowser, connectUrl: string): Promise<string> {
  const response = await fetch(new URL(connectUrl, stack.site_url), {
    method: "POST",
    headers: { cookie: browser.cookieHeader, "sec-fetch-site": "cross-site" },
    body: new URLSearchParams({ credential_token: CREDENTIAL }),
  });
  assertEquals(response.status, 403);
  return await response.text();
}

function monthBack(months: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1)).toISOString().slice(0, 7);
}
