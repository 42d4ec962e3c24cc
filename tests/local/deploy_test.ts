/** The parts of the deploy command that need no CLI; `tests/deploy/command.ts` runs all of it. */
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { parse } from "smol-toml";
import { mask } from "../../local/deploy/cli.ts";
import { appendToEnvFile, envFile, parseEnvFile } from "../../local/deploy/env_file.ts";
import { FRONT_DOORS, frontDoorLines } from "../../local/deploy/front_door.ts";
import { schema } from "../../local/deploy/steps.ts";
import { GENERATED, settingProblems } from "../../local/deploy/settings.ts";
import { mailServer, RATE_LIMITS, sender, writeAuthConfig } from "../../local/deploy/sign_in.ts";
import { type Deployment, StepError } from "../../local/deploy/step.ts";
import { LOCAL_SITE, supabaseEnvironment, writeOnce } from "../../local/deploy/supabase_start.ts";
import { readConfig } from "../../shared/config.ts";
import { limitOf } from "../../shared/http/quotas.ts";

const ROOT = new URL("../../", import.meta.url);
const SITE = "https://expenses.example.com";
const TARGET = { project: "abcdefghijklmnopqrst", siteUrl: SITE };

Deno.test("a settings file is parsed, and a malformed line is named without its value", () => {
  const values = parseEnvFile(`# c\n\nA=b c # comment\nB='x # y'\r\nC="it's"\nD=\n`);
  assertEquals([...values], [["A", "b c"], ["B", "x # y"], ["C", "it's"], ["D", ""]]);
  for (
    const [text, told] of [["no equals sign secret", "Line 1"], ["A=1\nA=secret", "A is there twice"], [
      "A='secret",
      "of A",
    ]]
  ) {
    const error = assertThrows(() => parseEnvFile(text!), Error, told!);
    assert(!error.message.includes("secret"));
  }
});

Deno.test("appended settings are read back after the existing ones", async () => {
  const path = await Deno.makeTempFile();
  await Deno.writeTextFile(path, "A=1");
  const added = new Map([["B", 'with "quotes"'], ["C", "it's, # all"]]);
  await appendToEnvFile(path, added);
  assertEquals([...parseEnvFile(await Deno.readTextFile(path))], [["A", "1"], ...added]);
  await Deno.remove(path);
});

Deno.test(".env.example names only known settings and omits only its blank ones", async () => {
  const text = await Deno.readTextFile(new URL(".env.example", ROOT));
  assertEquals(settingProblems(parseEnvFile(text), TARGET), [
    "MAIL_URL is blank: fill it in, or delete the line to remove the setting",
  ]);
  const all = text.replaceAll(/^# ([A-Z][A-Z0-9_]*=)/gm, "$1");
  assertEquals(settingProblems(parseEnvFile(all), TARGET).filter((problem) => problem.includes("not a setting")), []);
});

Deno.test("a DATABASE_URL of another project is rejected; addresses outside the platform are accepted", () => {
  const problems = (url: string) =>
    settingProblems(
      new Map([["MAIL_URL", "resend://re_Key"], ["MAIL_FROM", "a@example.com"], ["DATABASE_URL", url]]),
      TARGET,
    );
  const [own, other] = [TARGET.project, "z".repeat(20)];
  for (
    const url of [
      `postgresql://postgres.${own}:secret@aws-0-eu-central-1.pooler.supabase.com:5432/postgres`,
      `postgres://postgres:secret@db.${own}.supabase.co:5432/postgres`,
      "postgresql://postgres:secret@127.0.0.1:54322/postgres",
      `postgresql://postgres.${other}:secret@database.example.com/postgres`,
    ]
  ) assertEquals(problems(url), [], url);
  for (
    const url of [
      `postgresql://postgres.${other}:secret@aws-0-eu-central-1.pooler.supabase.com:5432/postgres`,
      `postgresql://postgres.${other}:secret@AWS-0-EU-CENTRAL-1.POOLER.SUPABASE.COM:5432/postgres`,
      "postgresql://postgres:secret@aws-0-eu-central-1.pooler.supabase.com:5432/postgres",
      `postgres://postgres:secret@db.${other}.supabase.co:5432/postgres`,
      `postgres://postgres.${own}:secret@db.${other}.supabase.co:5432/postgres`,
      `postgres://postgres:secret@${own}.supabase.co:5432/postgres`,
    ]
  ) {
    assertEquals(problems(url), [
      `DATABASE_URL is not the database of --project: copy the session pooler's address from the dashboard of ${own}`,
    ], url);
  }
  assertMatch(problems("db.example.com")[0]!, /^DATABASE_URL is not postgresql:/);
});

Deno.test("generated keys are valid for the functions", () => {
  const made = Object.fromEntries(Object.entries(GENERATED).map(([name, make]) => [name, make()]));
  const config = readConfig({ ...made, NEXT_PUBLIC_SITE_URL: SITE }, ["codeSecrets", "cronSecrets", "credentialsKeys"]);
  assertEquals([config.codeSecrets.length, config.credentialsKeys.length], [1, 1]);
});

Deno.test("mask() hides plain and percent-encoded values, longest first", () => {
  assertEquals(mask("a secret/one, secret%2Fone, secret/", ["secret/", "secret/one"]), "a •••, •••, •••");
  assertEquals(mask("short ones stay", ["s"]), "short ones stay");
});

Deno.test("sign-in mail uses the mail service's SMTP server", () => {
  assertEquals(mailServer("resend://re_Key"), {
    host: "smtp.resend.com",
    port: 465,
    user: "resend",
    password: "re_Key",
  });
  assertEquals(mailServer("smtps://a%40b:p%2Fw@smtp.example.com"), {
    host: "smtp.example.com",
    port: 465,
    user: "a@b",
    password: "p/w",
  });
  assertEquals(sender('"My, books" <a@example.com>'), { address: "a@example.com", name: "My, books" });
  assertEquals(sender("a@example.com"), { address: "a@example.com", name: "Expenses" });
});

Deno.test("Supabase Auth's limits exceed what fifty strangers can use under ours", async () => {
  const folder = await Deno.makeTempDir();
  const values = new Map([["MAIL_URL", "resend://re_Key"], ["MAIL_FROM", "expenses@example.com"]]);
  const { workdir } = await writeAuthConfig({ root: ROOT.pathname, folder, siteUrl: SITE, values });
  const pushed = parse(await Deno.readTextFile(`${workdir}/supabase/config.toml`)) as {
    auth: { rate_limit: typeof RATE_LIMITS };
  };
  await Deno.remove(folder, { recursive: true });
  assertEquals(pushed.auth.rate_limit, RATE_LIMITS);
  const inFiveMinutes = (name: Parameters<typeof limitOf>[1]) => {
    const { at_most, seconds } = limitOf({ rateLimits: "on" }, name)!;
    return at_most * 300 / seconds;
  };
  assert(50 * inFiveMinutes("sign_in_ip") <= RATE_LIMITS.token_verifications);
  assert(50 * inFiveMinutes("login_mail_ip") <= RATE_LIMITS.sign_in_sign_ups);
  assert(50 * (inFiveMinutes("sign_in_ip") + inFiveMinutes("session_refresh_ip")) <= RATE_LIMITS.token_refresh);
  // At any setting, it allows a burst of 30 per IP address.
  for (const name of ["sign_in_ip", "login_mail_ip", "session_refresh_ip"] as const) {
    assert(limitOf({ rateLimits: "on" }, name)!.at_most < 30, name);
  }
});

Deno.test("a deployment without IPv6 is pointed to DATABASE_URL", async () => {
  const fail = (message: string) => ({ run: () => Promise.reject(new StepError(message)), show() {} });
  const pushed = (message: string) =>
    schema.run(
      { project: "a", values: new Map(), cli: fail(message), isDryRun: false, say() {} } as unknown as Deployment,
    );
  await assertRejects(
    () => pushed("IPv6 is not supported on your current network"),
    StepError,
    "IPv6 is not supported on your current network. Set DATABASE_URL to the session pooler's address",
  );
  const other = await assertRejects(() => pushed("password authentication failed"), StepError);
  assertEquals(other.message, "password authentication failed");
});

Deno.test("front door instructions contain no key", () => {
  const values = new Map([["FRONT_DOOR_SECRET", "the-secret-of-the-front-door"]]);
  const deployment = { project: "a".repeat(20), siteUrl: SITE, values, envPath: ".env" } as unknown as Deployment;
  for (const kind of FRONT_DOORS) {
    const text = frontDoorLines(kind, deployment).join("\n");
    assert(text.includes("expenses.example.com") && !text.includes("the-secret"), text);
  }
});

Deno.test("supabase start: its functions start with the settings, and config.toml needs no variable except the vault's", async () => {
  const files = supabaseEnvironment();
  const own = Object.fromEntries(parseEnvFile(files["supabase/functions/.env"]!));
  readConfig(own, ["siteUrl", "codeSecrets", "cronSecrets", "mailUrl", "mailFrom", "credentialsKeys"]);
  const vault = Object.fromEntries(parseEnvFile(files["supabase/.env"]!));
  assertEquals(vault.CRON_SECRET, own.CRON_SECRET);
  const text = await Deno.readTextFile(new URL("supabase/config.toml", ROOT));
  const named = [...text.matchAll(/"env\((\w+)\)"/g)].map(([, name]) => name!);
  assertEquals(named.toSorted(), Object.keys(vault).toSorted());
  assertEquals((parse(text) as { auth: { site_url: string } }).auth.site_url, LOCAL_SITE);
});

Deno.test("existing settings of supabase start are kept", async () => {
  const folder = await Deno.makeTempDir();
  assert(await writeOnce(folder, "supabase/.env", envFile([["A", "1"]])));
  assertEquals(await writeOnce(folder, "supabase/.env", envFile([["A", "2"]])), false);
  assertEquals(await Deno.readTextFile(`${folder}/supabase/.env`), "A='1'\n");
  await Deno.remove(folder, { recursive: true });
});

Deno.test("Workers run serve.ts without Deno, and it names missing settings", async () => {
  const folder = new URL("local/front_door/", ROOT);
  const { main } = parse(await Deno.readTextFile(new URL("wrangler.toml", folder))) as { main: string };
  const { default: worker } = await import(new URL(main, folder).href);
  const runtime = globalThis as { Deno?: typeof Deno };
  const { Deno: deno } = runtime;
  const ask = () => worker.fetch(new Request(`${SITE}/login`), {}) as Promise<Response>;
  try {
    delete runtime.Deno;
    assertEquals(await (await ask()).text(), "FUNCTIONS_URL is not set.\n");
  } finally {
    runtime.Deno = deno;
  }
});
