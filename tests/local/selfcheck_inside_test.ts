/** Selfcheck with the deployment's secret: vault, jobs, clocks, mail, sign-in. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createSite, type Line } from "../../local/selfcheck/check.ts";
import { judgeSettings, mail, schedule } from "../../local/selfcheck/inside.ts";

const SECRET = "the-secret-of-the-scheduler-in-this-test";

type Health = Record<string, unknown>;
const healthy = (): Health => ({
  ok: true,
  vault: [],
  jobs: [
    { job: "reminders", age_seconds: 3000, problems: [] },
    { job: "provider-sync", age_seconds: 864_000, problems: [] },
    { job: "purge-expired", age_seconds: null, problems: [] },
  ],
  clock: new Date().toISOString(),
  database_clock: new Date().toISOString(),
  front_door: "ok",
});

interface Asked {
  path: string;
  authorization: string | null;
  body: string;
}

function siteWith(answer: () => Response, options: { cronSecret?: string; mailTo?: string } = { cronSecret: SECRET }) {
  const asked: Asked[] = [];
  const site = createSite({
    url: "https://site.example",
    slugs: [],
    ...options,
    async fetch(request) {
      asked.push({
        path: new URL(request.url).pathname,
        authorization: request.headers.get("authorization"),
        body: await request.text(),
      });
      return answer();
    },
  });
  return { site, asked };
}

const linesOf = async (change: Health) =>
  await Array.fromAsync(schedule(siteWith(() => Response.json({ ...healthy(), ...change })).site));
const faults = (lines: Line[]) => lines.filter(({ kind }) => kind === "wrong").map(({ text }) => text);

Deno.test("a healthy deployment reports the age of each job's last good run and no problem", async () => {
  assertEquals(await linesOf({}), [
    { kind: "note", text: "Job reminders: last succeeded 50 min ago" },
    { kind: "note", text: "Job provider-sync: last succeeded 10 days ago" },
    { kind: "note", text: "Job purge-expired: never succeeded yet" },
  ]);
});

const shifted = (ms: number) => new Date(Date.now() + ms).toISOString();
const jobWith = (problem: Record<string, unknown>) => ({
  jobs: [{ job: "reminders", age_seconds: 200_000, problems: [problem] }],
});

const FAULTS: Record<string, [Health, RegExp]> = {
  "a vault with another address": [{ vault: ["vault_project_url"] }, /^Vault: project_url is not/],
  "a vault with another secret": [{ vault: ["vault_cron_secret"] }, /^Vault: cron_secret is none/],
  "a job whose calls have no effect": [
    jobWith({ code: "called_in_vain", job: "reminders" }),
    /^Job reminders was called, and no run followed; .* \(last succeeded 2 days ago\)$/,
  ],
  "a schedule that is gone": [
    jobWith({ code: "not_scheduled", job: "reminders-catch-up" }),
    /^Job reminders-catch-up is not in pg_cron/,
  ],
  "a stage that failed": [
    jobWith({ code: "stage_failed", job: "reminders", stages: ["rates", "roll"] }),
    /failed in its last run, at rates, roll;/,
  ],
  "a front door with another secret": [
    { front_door: "wrong_secret" },
    /^The front door sends another FRONT_DOOR_SECRET/,
  ],
  "functions whose clock is behind": [{ clock: shifted(-120_000) }, /^The functions' clock is 1[12]\d s behind/],
  "a database whose clock is ahead": [
    { database_clock: shifted(120_000) },
    /^The database's clock is 1[12]\d s ahead of/,
  ],
};
for (const [what, [change, told]] of Object.entries(FAULTS)) {
  Deno.test(`one line reports: ${what}`, async () => {
    const lines = faults(await linesOf(change));
    assertEquals(lines.length, 1, lines.join("\n"));
    assertMatch(lines[0]!, told);
  });
}

Deno.test("a 503 with a report is parsed; one without, or a 401, becomes one line", async () => {
  const read = siteWith(() => Response.json({ ...healthy(), vault: ["vault_cron_secret"] }, { status: 503 }));
  assertEquals(faults(await Array.fromAsync(schedule(read.site))).length, 1);
  const down = siteWith(() => Response.json({ error: "unavailable" }, { status: 503 }));
  assertMatch(faults(await Array.fromAsync(schedule(down.site))).join(), /^\/api\/health\/jobs answers 503/);
  const refused = siteWith(() => Response.json({ error: "unauthorized" }, { status: 401 }));
  assertMatch(faults(await Array.fromAsync(schedule(refused.site))).join(), /^CRON_SECRET: the functions don't know/);
});

Deno.test("without the secret nothing is requested, and a note lists the skipped checks", async () => {
  const { site, asked } = siteWith(() => Response.json({}), { mailTo: "mira@example.com" });
  assertEquals((await Array.fromAsync(schedule(site))).map(({ kind }) => kind), ["note"]);
  assertEquals(await Array.fromAsync(mail(site)), []);
  assertEquals(asked, []);
});

Deno.test("the test mail goes to the given address once; a rejection names the settings", async () => {
  const options = { cronSecret: SECRET, mailTo: "mira@example.com" };
  const sent = siteWith(() => Response.json({ ok: true, mark: "0123456789abcdef" }), options);
  const [line] = await Array.fromAsync(mail(sent.site));
  assertEquals(line!.kind, "note");
  assert(line!.text.includes("0123456789abcdef") && line!.text.includes("mira@example.com"));
  assertEquals(sent.asked, [{
    path: "/api/health/mail",
    authorization: `Bearer ${SECRET}`,
    body: '{"to":"mira@example.com"}',
  }]);
  const refused = siteWith(() => Response.json({ error: "unavailable" }, { status: 503 }), options);
  assertMatch(faults(await Array.fromAsync(mail(refused.site))).join(), /^Mail: .* check MAIL_URL and MAIL_FROM/);
});

Deno.test("sign-in: each kind of difference gets one line, and a missing mail server is explained", () => {
  const texts = (...paths: string[]) => [...judgeSettings(paths)].map(({ kind, text }) => `${kind}: ${text}`);
  assertEquals(texts(), []);
  const all = texts(
    "auth.site_url",
    "auth.email.smtp.enabled",
    "auth.email.smtp.host",
    "auth.rate_limit.email_sent",
    "auth.rate_limit.token_verifications",
    "auth.email.template.magic_link.subject",
    "auth.email.template.confirmation.subject",
    "auth.hook.custom_access_token.enabled",
    "auth.jwt_expiry",
  );
  assertEquals(all.length, 6, all.join("\n"));
  assertMatch(all[0]!, /^wrong: Sign-in: Site URL is another address/);
  assertMatch(all[1]!, /two mails an hour, and only to members .* email_address_not_authorized/);
  assertMatch(all[3]!, /the mails are not ours.*magic_link\.subject, auth\.email\.template\.confirmation\.subject/);
  assertMatch(texts("auth.email.smtp.host").join(), /the mail server is another one/);
});
