/**
 * Follows docs/self-hosting.md from the installation of a release to a restored backup, with throw-away PostgreSQL
 * servers, Caddy with a certificate from its own ACME server, and an SMTP sink. Then attacks the service from outside.
 * Caddy proves its name on port 443 of 127.0.0.1.
 */
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { findForm, FormBrowser } from "../../local/form_browser.ts";
import { startMailSink } from "../../local/mail/smtp_sink.ts";
import { newestLink, signIn } from "../../local/sign_in.ts";
import { SCHEMA_VERSION } from "../../shared/schema_version.ts";
import { connectFor } from "../e2e/person.ts";
import { readChecksums } from "../upgrade/checksums.ts";
import { freePort } from "../_support/free_port.ts";
import { askRaw, holdOpen } from "../_support/raw_http.ts";
import { waitFor } from "../_support/wait_for.ts";
import { startAcme, startCaddy } from "./caddy.ts";
import { blocksOf, type Machine, newMachine, type Service, waitUntilReady } from "./guide.ts";
import { newReleases } from "./releases.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const OWNER = "ann@example.com";
/** The schema version of the previous release. */
const RELEASED = Object.keys((await readChecksums(new URL("../../", import.meta.url))).released).length;
/** More than a function serves concurrently. */
const SLOW_CONNECTIONS = 50;
const started: (() => Promise<unknown>)[] = [];
const mails = await startMailSink();
// The mailbox in the sign-in helper's form.
const mailbox = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
  const to = new URL(request.url).searchParams.get("to") ?? undefined;
  return Response.json(mails.list(to));
});
const mail_url = `http://127.0.0.1:${mailbox.addr.port}`;

const acme = await startAcme();
started.push(acme.close);
const client = Deno.createHttpClient({ caCerts: [acme.root] });
const directFetch = globalThis.fetch;
/** Sent with every request, as an attacker would. */
let forged: Record<string, string> = {};
/** The actual destination of requests to the site. */
let visited: { from: string; to: string } | undefined;
globalThis.fetch = (input, init) => {
  let request = new Request(input, init);
  if (visited) request = new Request(request.url.replace(visited.from, visited.to), request);
  for (const [name, value] of Object.entries(forged)) request.headers.set(name, value);
  return directFetch(request, { client } as RequestInit);
};

const releases = await newReleases();
started.push(releases.remove);
const operator = { mails, releases };
const open = async (options?: { httpsPort: number }): Promise<Machine> => {
  const machine = await newMachine(operator, options);
  started.push(machine.close);
  return machine;
};

const status = async (url: string, init: RequestInit = {}) => {
  const response = await fetch(url, { redirect: "manual", ...init });
  await response.body?.cancel();
  return response.status;
};

Deno.test("the guide leads to https, a sign-in by mail, a tool call, a backup and its restore", async () => {
  const machine = await open();
  const site = `https://localhost:${machine.httpsPort}`;
  const stack = { site_url: site, mail_url };
  const database = () =>
    postgresDatabase(`postgres://postgres@127.0.0.1:${machine.database.port}/expenses`, { max: 1 });
  const ask = async <Result extends object>(sql: string) => {
    const open = database();
    return await open.query<Result>(sql).finally(() => open.close());
  };
  const names = async () => {
    const { data } = await assistant.call("list_expenses", {});
    return data.rows.map(({ name }: { name: string }) => name);
  };
  const schemaOf = async (port: number) => (await (await fetch(`http://127.0.0.1:${port}/api/health`)).json()).schema;
  let browser: FormBrowser;
  const person = {
    email: OWNER,
    async decide(authorizationUrl: string | URL) {
      const page = await browser.open(authorizationUrl);
      const consent = findForm(page, ({ buttons }) => buttons.some(({ name }) => name === "action"));
      return (await browser.submit(page, consent, { press: "approve" })).url;
    },
  };
  let second: Service;
  let assistant: Awaited<ReturnType<typeof connectFor>>;
  const [install] = await blocksOf("Install");
  const [settings] = await blocksOf("Database and settings");
  const [, commands] = await blocksOf("Start");
  try {
    // The service refuses to start without its settings, and names all of them.
    {
      const { code, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["task", "--quiet", "start", "--production"],
        cwd: ROOT,
        env: { NO_COLOR: "1", AUTH_PROVIDERS: "google", RATE_LIMITS: "off" },
      }).output();
      const said = new TextDecoder().decode(stderr);
      assertEquals(code, 1);
      const missing = ["DATABASE_URL", "JWT_SECRET", "NEXT_PUBLIC_SITE_URL", "OAUTH_CODE_SECRET", "CRON_SECRET"];
      for (const name of [...missing, "CREDENTIALS_KEY", "MAIL_URL", "MAIL_FROM", "AUTH_PROVIDERS", "RATE_LIMITS"]) {
        assertStringIncludes(said, name);
      }
    }

    // The previous release is installed, and starts as an ordinary owner of its database.
    {
      await machine.run(install!, { [releases.latest]: releases.before });
      await machine.run(settings!);
      // It needs a function of a future schema.
      await machine.settings((text) => text.replace(/^SIGN_UP=.*\n/m, ""));
      await machine.run(commands!);
      assertEquals(await ask("select rolsuper, rolcreaterole, rolbypassrls from pg_roles where rolname = 'expenses'"), [
        { rolsuper: false, rolcreaterole: false, rolbypassrls: false },
      ]);
      assertEquals(await schemaOf(machine.service.port), RELEASED);
    }

    // Caddy gets a certificate, and terminates TLS.
    {
      const [site_block] = await blocksOf("https");
      await machine.write("Caddyfile", site_block!.replace("{\n", `{\n\t${acme.site}\n`), acme.options);
      started.push(startCaddy(machine.folder));
      await waitFor(() => status(`${site}/api/health`).then((code) => code === 200 || undefined, () => undefined));
    }

    // A person signs in by a mailed link and calls a tool over https.
    {
      const signedIn = await signIn(stack, OWNER);
      browser = signedIn.browser;
      const { page } = signedIn;
      assertEquals([page.url.origin, page.status], [site, 200]);
      assertStringIncludes(mails.list(OWNER)[0]!.html, `${site}/auth/callback`);
      assistant = await connectFor(person, `${site}/api/mcp`);
      const { ok } = await assistant.call("log_expenses", {
        items: [{ name: "Lunch", amount: "14.50 EUR", date: "2026-11-20" }],
      });
      assertEquals(ok, true);
    }

    // An upgrade applies the migrations once, although two processes start concurrently, and keeps the books.
    {
      const [upgrade] = await blocksOf("Upgrade");
      await machine.settings((text) => `${text}SIGN_UP=invited\n`);
      await machine.run(upgrade!, { "<TAG>": releases.latest });
      second = await machine.begin(freePort());
      const [before] = await Promise.all([waitUntilReady(machine.service), waitUntilReady(second)]);
      assert(before.has(503), "while it starts, it says that it isn't ready");
      assertEquals([await schemaOf(machine.service.port), await schemaOf(second.port)], [
        SCHEMA_VERSION,
        SCHEMA_VERSION,
      ]);
      assertEquals(await ask("select count(*)::int as applied from supabase_migrations.schema_migrations"), [
        { applied: SCHEMA_VERSION },
      ]);
      assertEquals(await names(), ["Lunch"]);
      // Both processes run it from here on.
      await ask("select cron.schedule('shared', '* * * * *', 'select 1')");
    }

    // The deployment checks itself, and its test mail arrives.
    {
      const [, selfcheck] = await blocksOf("https");
      const said = await machine.run(selfcheck!, { "<ADDRESS>": "operator@example.com" }, {
        DENO_CERT: acme.rootPath,
      });
      assertStringIncludes(said, `${site} is fine.`);
      assertEquals(mails.list("operator@example.com").length, 1);
    }

    // Systemd accepts the units.
    {
      const [backup, timer] = await blocksOf("Back up");
      const [service] = await blocksOf("Start");
      const units = {
        "expenses.service": service!,
        "expenses-backup.service": backup!,
        "expenses-backup.timer": timer!,
      };
      for (const [name, text] of Object.entries(units)) {
        await machine.write(name, text.replaceAll("/usr/local/bin/deno", Deno.execPath()));
      }
      const paths = Object.keys(units).map((name) => `${machine.folder}/${name}`);
      const { stderr } = await new Deno.Command("systemd-analyze", { args: ["verify", ...paths] }).output();
      assertEquals(new TextDecoder().decode(stderr), "");
    }

    // Strangers reach no database, identity provider, mailbox, clock or demo data.
    {
      for (const base of [site, `http://127.0.0.1:${machine.service.port}`]) {
        for (const path of ["/local/mail", "/local/clock", "/auth/v1/otp", "/auth/v1/admin/users", "/rest/v1/"]) {
          assertEquals(await status(base + path, { method: "POST", body: "{}" }), 404, base + path);
        }
      }
      assertEquals(await status(`${site}/functions/v1/cron-reminders`), 404);
      assertEquals(await status(`${site}/api/cron/reminders`), 401);
      assertEquals(await ask("select count(*)::int as people from auth.users"), [{ people: 1 }]);
      const login = await (await fetch(`${site}/login`, { headers: { "x-direct": "1" } })).text();
      assertFalse(/mailbox|demo@example/i.test(login));
    }

    // A forged Host changes no address, and HSTS is set.
    {
      const hostile = await Deno.connect({ hostname: "127.0.0.1", port: machine.service.port });
      const path = "/.well-known/oauth-authorization-server";
      const request =
        `GET ${path} HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nConnection: close\r\n\r\n`;
      await hostile.write(new TextEncoder().encode(request));
      const answer = await new Response(hostile.readable).text();
      assertStringIncludes(answer, `"issuer":"${site}"`);
      assertFalse(answer.includes("evil.example"));
      assertMatch(answer, /strict-transport-security: max-age=/);
    }

    // A person gets five guesses at a code, whatever address they claim.
    {
      const attacker = new FormBrowser(site);
      const login = await attacker.open("/login");
      let page = await attacker.submit(login, findForm(login, ({ fields }) => "email" in fields), {
        fill: { email: "victim@example.com" },
      });
      const answers = [];
      for (let guess = 0; guess < 6; guess++) {
        forged = { "x-forwarded-for": `203.0.113.${guess}`, "cf-connecting-ip": `203.0.113.${guess}` };
        const form = findForm(page, ({ fields }) => "code" in fields);
        const answer = await attacker.submit(page, form, { fill: { code: "000000" } });
        answers.push(answer.status);
        if (answer.status < 429) page = answer;
      }
      forged = {};
      // The guide lets only invited people sign up, and the page doesn't reveal it.
      assertEquals(mails.list("victim@example.com"), []);
      assertEquals(answers.at(-1), 429);
      assert(answers.slice(0, 5).every((code) => code < 429), String(answers));
    }

    // A caller's limit applies, whatever address it forges.
    {
      const answers = [];
      for (let mail = 0; mail < 21; mail++) {
        forged = { "x-forwarded-for": `198.51.100.${mail}`, "cf-connecting-ip": `198.51.100.${mail}` };
        const stranger = new FormBrowser(site);
        const login = await stranger.open("/login");
        const form = findForm(login, ({ fields }) => "email" in fields);
        answers.push((await stranger.submit(login, form, { fill: { email: `new${mail}@example.com` } })).status);
        if (answers.at(-1) === 429) break;
      }
      forged = {};
      assertEquals(answers.at(-1), 429);
    }

    // A mailed link signs in once, and another site's form not at all.
    {
      const other = new FormBrowser(site);
      const used = await other.open(await newestLink(stack, OWNER));
      const again = await other.submit(used, findForm(used));
      assertEquals(again.status, 400);
      const origin = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
      const body = new URLSearchParams({ email: OWNER });
      assertEquals(await status(`${site}/login`, { method: "POST", body, headers: origin }), 403);
    }

    // Hostile requests are refused, and break nothing.
    {
      const direct = `http://127.0.0.1:${machine.service.port}`;
      const traced = await askRaw(`${direct}/login`, { method: "TRACE", headers: { "x-echo": "echoed" } });
      assertEquals([traced.status, traced.body.includes("echoed")], [405, false]);
      assertEquals(
        await status(`${site}/login`, { method: "POST", body: new URLSearchParams({ email: "a".repeat(12e6) }) }),
        413,
      );
      assertEquals((await browser.open("/books?cursor=%00")).status < 500, true);
      const id = crypto.randomUUID();
      const answer = await fetch(`${site}/login`, { headers: { "x-request-id": id } });
      assertFalse((await answer.text()).includes(id) || answer.headers.get("x-request-id") === id);
      assertEquals(await status(`${direct}/functions/v1/cron-reminders/api/cron/reminders`), 401);
    }

    // Slow bodies block no function, although one process serves all of them.
    {
      const ends = await Promise.all(
        ["/login", "/api/oauth/token", "/api/oauth/register", "/api/mcp", "/api/payment/webhook"].map((path) =>
          holdOpen(`http://127.0.0.1:${machine.service.port}${path}`, {
            connections: SLOW_CONNECTIONS,
            headers: { "content-type": "application/json", "x-forwarded-for": "203.0.113.1" },
          })
        ),
      );
      const throughCaddy = await Promise.all(Array.from({ length: SLOW_CONNECTIONS }, async () => {
        const options = { hostname: "localhost", port: machine.httpsPort, caCerts: [acme.root] };
        const connection = await Deno.connectTls(options);
        const head = `POST /login HTTP/1.1\r\nHost: localhost:${machine.httpsPort}\r\nContent-Length: 9\r\n\r\na`;
        await connection.write(new TextEncoder().encode(head));
        return connection;
      }));
      assertEquals(await status(`${site}/login`), 200);
      assertEquals(await status(`${site}/.well-known/oauth-authorization-server`), 200);
      assertEquals(await status(`${site}/api/payment/webhook`, { method: "POST", body: "{}" }), 503);
      assertEquals((await assistant.call("list_expenses", {})).ok, true);
      for (const end of ends) end();
      for (const connection of throughCaddy) connection.close();
    }

    // A killed process and a killed PostgreSQL lose nothing, and the service continues.
    {
      await machine.service.kill();
      await machine.start();
      assertEquals(await names(), ["Lunch"]);
      await machine.database.restart("crash");
      await waitFor(() => assistant.call("list_expenses", {}).then(({ ok }) => ok || undefined, () => undefined));
      assertEquals(await names(), ["Lunch"]);
    }

    // A backup is restored into a second server, which takes over the address.
    {
      await machine.run("systemctl start expenses-backup");
      const files = await Array.fromAsync(Deno.readDir(`${machine.folder}/backups`), ({ name }) => name);
      assertEquals(files.length, 2, "one was made before the upgrade");

      const other = await open({ httpsPort: machine.httpsPort });
      await other.run(install!);
      await other.run(settings!);
      const own = await other.settings();
      const databaseUrl = /^DATABASE_URL=.*$/m;
      const old = await machine.settings();
      await other.settings(() => old.replace(databaseUrl, databaseUrl.exec(own)![0]));
      await other.run(commands!);
      const [restore] = await blocksOf("Restore");
      const said = await other.run(restore!, { "<FILE>": `${machine.folder}/backups/${files.toSorted().at(-1)}` });
      assertMatch(said, /Restored: 1 person and 1 organization/);
      await machine.service.end();
      visited = { from: site, to: `http://127.0.0.1:${other.service.port}` };
      assertEquals(await names(), ["Lunch"]);
      visited = undefined;
      // Its response is complete although the service was stopped.
      const last = fetch(`http://127.0.0.1:${other.service.port}/login`).then((answer) => answer.text());
      const code = await other.service.end();
      assertStringIncludes(await last, "</html>");
      assertEquals(code, 0);
      assertStringIncludes(other.service.log(), '"event":"stopped"');
    }

    // Of the processes on one database, one ran each due job.
    {
      const runs = () =>
        ask<{ due: string; runs: number; others: number }>(
          `select due::text, count(*)::int as runs, count(*) filter (where status <> 'succeeded')::int as others
           from cron.job_run_details join cron.job using (jobid) where jobname = 'shared' group by due`,
        );
      await waitFor(async () => (await runs()).length > 0 || undefined, { deadlineMs: 70_000 });
      assert((await runs()).every(({ runs, others }) => runs === 1 && others === 0));
      const logged = (machine.service.log() + second.log()).match(/"scheduled job"[^\n]*"shared"/g) ?? [];
      assert(logged.length <= (await runs()).length, String(logged.length));
    }
  } catch (thrown) {
    throw new Error(`The service's log ends with:\n${machine.service?.log().slice(-4000)}`, { cause: thrown });
  } finally {
    visited = undefined;
    for (const end of started.toReversed()) await end().catch(() => {});
    client.close();
    await mailbox.shutdown();
    await mails.close();
  }
});
