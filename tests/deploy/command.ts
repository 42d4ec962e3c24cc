/**
 * `deno task suite deploy`: the deploy command with the real CLI, against a fake management API and a real PostgreSQL.
 * Each step fails once and then continues, and a second run changes nothing.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { CLI_VERSION, createCli } from "../../local/deploy/cli.ts";
import { appendToEnvFile, parseEnvFile } from "../../local/deploy/env_file.ts";
import { GENERATED, isFunctionSetting } from "../../local/deploy/settings.ts";
import { diffAuthConfig, diffMailTexts, writeAuthConfig } from "../../local/deploy/sign_in.ts";
import { judgeSettings } from "../../local/selfcheck/inside.ts";
import { deploy, STEPS } from "../../local/deploy/run.ts";
import type { Deployment } from "../../local/deploy/step.ts";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { startCluster } from "../_support/cluster.ts";
import { copy } from "../_support/copy.ts";
import { IS_SHORT, NIGHTLY } from "../_support/short_form.ts";
import { newDatabase } from "../_support/new_database.ts";
import { PROJECT, startManagementApi, TOKEN } from "./management_api.ts";
import { CLI_PROGRAM, supabase } from "./supabase_cli.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const SITE = "https://expenses.example.com";
const SMTP_PASSWORD = "a password/of the+mail server";
const DATABASE_PASSWORD = "the-password-of-the-database";
const PUBLISHED_ENTRY = "the-scheduler-s-next-secret-in-this-test";

const cluster = await startCluster();
const { url } = await newDatabase(cluster.urlOf("postgres", "supabase_closed"));
const folder = await Deno.makeTempDir({ prefix: "expense-deploy-" });
const root = join(folder, "checkout");
for (const part of ["functions", "shared", "import_map.json", "supabase"]) await copy(ROOT + part, join(root, part));
const uploads = join(folder, "uploads");
await Deno.mkdir(uploads);
const api = await startManagementApi(uploads, url);
const database = postgresDatabase(url, { max: 1 });
Deno.test.afterAll(async () => {
  await api.close();
  await database.close();
  await cluster.stop();
  await Deno.remove(folder, { recursive: true });
});

// Records the real command lines: a script stores the arguments of npx and runs the same program.
const bin = join(folder, "bin");
const argsFile = join(folder, "arguments");
await Deno.mkdir(bin);
await Deno.writeTextFile(
  join(bin, "npx"),
  `#!/bin/sh
printf '%s\\n' "$@" >> '${argsFile}'
[ "$1 $2" = '-y supabase@${CLI_VERSION}' ] || exit 1
shift 2
PATH='${Deno.env.get("PATH")}' exec '${CLI_PROGRAM}' "$@"
`,
  { mode: 0o755 },
);
for (
  const [name, value] of Object.entries({
    PATH: `${bin}:${Deno.env.get("PATH")}`,
    HOME: join(folder, "home"),
    SUPABASE_PROFILE: api.profile,
    SUPABASE_ACCESS_TOKEN: TOKEN,
    SUPABASE_API_MAX_RETRIES: "0",
  })
) Deno.env.set(name, value);

const envPath = join(root, ".env");
const databaseUrl = (port?: number) => {
  const target = new URL(`${url}?sslmode=disable`);
  target.password = DATABASE_PASSWORD;
  if (port) target.port = String(port);
  return target.href;
};
const SETTINGS = {
  MAIL_URL: `smtps://expenses:${encodeURIComponent(SMTP_PASSWORD)}@smtp.example.com:465`,
  MAIL_FROM: "Expenses <expenses@example.com>",
  AUTH_PROVIDERS: "google",
  AUTH_GOOGLE_CLIENT_ID: "client-of-google",
  AUTH_GOOGLE_SECRET: "secret-of-google-in-this-test",
  CHECKOUT_URL: "https://pay.example.com/?organization_id={organization_id}",
};
const SUPPORT_URL = "mailto:support@example.com";

async function writeSettings(settings: Record<string, string>): Promise<void> {
  await Deno.remove(envPath).catch(() => {});
  await appendToEnvFile(envPath, new Map(Object.entries(settings)));
}
const readSettings = async () => Object.fromEntries(parseEnvFile(await Deno.readTextFile(envPath)));

/** The output of all runs. */
const printed: string[] = [];

async function run(options: { isDryRun?: boolean; replace?: string[]; settings?: Record<string, string> } = {}) {
  const values = new Map(Object.entries({ ...await readSettings(), DATABASE_URL: databaseUrl(), ...options.settings }));
  const lines: string[] = [];
  const say = (line: string) => void (lines.push(line), printed.push(line));
  const secrets = () => [...values].filter(([name]) => /SECRET|KEY|URL/.test(name)).map(([, value]) => value);
  const state = join(folder, "state");
  await Deno.mkdir(state, { recursive: true });
  const deployment: Deployment = {
    project: PROJECT,
    siteUrl: SITE,
    values,
    envPath,
    root,
    folder: state,
    replace: options.replace ?? [],
    isDryRun: options.isDryRun ?? false,
    cli: createCli({ root, say, secrets }),
    say,
  };
  api.writes.length = 0;
  const { ok, outcomes } = await deploy(deployment);
  return { ok, outcomes, text: lines.join("\n"), writes: [...api.writes] };
}

const isRead = (kind: string) => kind === "POST /database/query";

Deno.test("the command names blank, misspelled and missing settings and deploys nothing", async () => {
  await writeSettings({ ...SETTINGS, MAIL_FROM: "", MAIL_ULR: "smtp://x" });
  const { ok, text, writes } = await run();
  assertEquals([ok, writes], [false, []]);
  assertMatch(text, /MAIL_FROM is blank: fill it in, or delete the line to remove the setting/);
  assertMatch(text, /MAIL_ULR is not a setting/);
});

Deno.test("a dry run on a new project shows every step, writes nothing and generates no key", async () => {
  await writeSettings(SETTINGS);
  const { ok, outcomes, text, writes } = await run({ isDryRun: true });
  assert(ok, text);
  assertEquals(outcomes, STEPS.map(() => "planned"));
  assertEquals(writes.filter((kind) => !isRead(kind)), []);
  assertEquals(await readSettings(), SETTINGS);
  assertEquals(api.settings.secrets.size, 0);
});

/** A run takes several seconds, so the short form tries some of the failures. */
const some = <Item>(items: Item[]) => IS_SHORT ? items.filter((_, index) => index % 3 === 1) : items;

/** The failing request, and the number of steps completed by then. */
const FAILURES: [kind: string, done: number][] = [
  ["GET ", 0],
  ["GET /secrets", 1],
  ["POST /secrets", 1],
  ["DELETE /secrets", 1],
  [`GET /v2/projects/${PROJECT}/config`, 3],
  ["PATCH /postgrest", 3],
  ["PATCH /config/auth", 3],
  ["POST /database/query", 4],
  ["GET /functions", 6],
  ["POST /functions/deploy", 6],
  ["PUT /functions", 6],
];

/** Requests that lose their response, after the changes that cause them. */
const LOST: [kind: string, prepare: () => unknown, done: number][] = [
  ["POST /secrets", () => api.settings.secrets.delete("MAIL_FROM"), 1],
  ["DELETE /secrets", () => api.settings.secrets.set("SUPPORT_URL", SUPPORT_URL), 1],
  ["PATCH /config/auth", () => void (api.settings.auth.site_url = "https://elsewhere.example"), 3],
  ["PUT /functions", () => api.bump("oauth"), 6],
];

Deno.test("an unreachable database ends the run without printing its password", async () => {
  const { ok, outcomes, text } = await run({ settings: { DATABASE_URL: databaseUrl(1) } });
  assertEquals([ok, outcomes.length], [false, 2], text);
  assertMatch(text, /3\. Database[^]*failed: [^]*run the same command again/);
});

Deno.test("a failed migration is rolled back, and the same command continues", async () => {
  // Created after most of the others.
  await database.exec("create schema jobs");
  const { ok, outcomes, text } = await run();
  assertEquals([ok, outcomes.length], [false, 2], text);
  assertMatch(text, /3\. Database[^]*failed: .*jobs.* already exists/);
  const left = await database.query("select from pg_namespace where nspname in ('app', 'identity', 'oauth')");
  assertEquals(left.length, 0);
  await database.exec("drop schema jobs");
});

Deno.test("after each step's failure, later steps don't run, the same command continues, and keys are generated once", async () => {
  let keys: Record<string, string> | undefined;
  for (const [kind, done] of some(FAILURES)) {
    // Secrets already exist; only those that differ are sent again.
    if (kind === "POST /secrets") api.settings.secrets.delete("MAIL_FROM");
    // A deployment removes settings that the file doesn't name.
    if (kind === "DELETE /secrets") api.settings.secrets.set("SUPPORT_URL", SUPPORT_URL);
    // A linked checkout causes no question.
    if (kind === "GET ") await Deno.remove(join(root, "supabase/.temp"), { recursive: true });
    api.failNext(kind);
    const { ok, outcomes, text } = await run();
    assertEquals([ok, outcomes.length], [false, done], `${kind}\n${text}`);
    const now = await readSettings();
    keys ??= now;
    assertEquals(now, keys, kind);
  }
  const { ok, outcomes, text } = await run();
  assert(ok, text);
  assertEquals(outcomes.at(-1), "changed");
});

Deno.test("a lost response ends the run, and the next run detects the completed work", async () => {
  for (const [kind, prepare, done] of some(LOST)) {
    prepare();
    api.loseNext(kind);
    const { ok, outcomes, text } = await run();
    assertEquals([ok, outcomes.length], [false, done], `${kind}\n${text}`);
  }
  const { ok, text } = await run();
  assert(ok, text);
});

Deno.test("a killed deployment continues with the same command", async () => {
  await copy(`${ROOT}local`, join(root, "local"));
  const path = join(folder, "killed.env");
  await appendToEnvFile(path, new Map(Object.entries({ ...await readSettings(), DATABASE_URL: databaseUrl() })));
  api.settings.secrets.delete("MAIL_FROM");
  const { came, release } = api.holdNext("POST /secrets");
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", "--no-lock", "-A", "-c", `${ROOT}deno.json`, join(root, "local/deploy.ts")]
      .concat("--project", PROJECT, "--site", SITE, "--env-file", path),
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  await came;
  child.kill("SIGKILL");
  await child.status;
  release();
  const { ok, outcomes, text } = await run();
  assert(ok, text);
  assertEquals(outcomes[1], "changed");
});

Deno.test("selfcheck names and deploy restores changed settings: address, redirects, mail texts", async () => {
  const differences = async () => {
    const deployment = { root, folder: join(folder, "state"), siteUrl: SITE };
    const config = await writeAuthConfig({ ...deployment, values: new Map(Object.entries(await readSettings())) });
    const cli = createCli({ root, say: () => {}, secrets: () => [] });
    const texts = await diffMailTexts({ project: PROJECT, root, token: TOKEN, apiUrl: api.url });
    return [...await diffAuthConfig({ cli, project: PROJECT }, config), ...texts].toSorted();
  };
  assertEquals(await differences(), []);
  Object.assign(api.settings.auth, {
    site_url: "http://localhost:3000",
    uri_allow_list: "https://elsewhere.example",
    mailer_templates_magic_link_content: "<a href='{{ .ConfirmationURL }}'>Log in</a>",
    smtp_host: null,
    rate_limit_email_sent: 2,
    rate_limit_verify: 30,
  });
  const found = await differences();
  const lines = [...judgeSettings(found)].map(({ text }) => text);
  for (
    const [path, told] of [
      ["auth.site_url", /Site URL is another/],
      ["auth.additional_redirect_urls", /redirect list allows other/],
      ["auth.email.template.magic_link.content", /the mails are not ours/],
      ["auth.rate_limit.email_sent", /the limits on mails and sign-ins/],
      ["auth.rate_limit.token_verifications", /the limits on mails and sign-ins/],
    ] as const
  ) {
    assert(found.includes(path), found.join());
    assertEquals(lines.filter((line) => told.test(line)).length, 1, lines.join("\n"));
  }
  assert(lines.some((line) => /mail server/.test(line)), lines.join("\n"));
  const { ok, outcomes, text } = await run();
  assert(ok, text);
  assertEquals(
    outcomes.map((outcome) => outcome === "changed"),
    [false, false, false, true, false, false, false],
    text,
  );
  assertEquals(await differences(), []);
});

Deno.test("a second run changes nothing", async () => {
  const { ok, outcomes, text, writes } = await run();
  assert(ok, text);
  assertEquals(outcomes, STEPS.map(() => "unchanged"), text);
  assertEquals(writes.filter((kind) => !isRead(kind)), []);
  const dry = await run({ isDryRun: true });
  assertEquals(dry.outcomes, STEPS.map(() => "unchanged"), dry.text);
});

Deno.test("a CHECKOUT_URL turns plans on unless the operator decided otherwise", NIGHTLY, async () => {
  const areOn = async () => {
    const [row] = await database.query<{ plans_enabled: boolean | null }>("select plans_enabled from billing.settings");
    return row!.plans_enabled;
  };
  assertEquals(await areOn(), true);
  for (const [decided, becomes] of [[null, true], [false, false]]) {
    await database.query("update billing.settings set plans_enabled = $1", [decided]);
    const { ok, outcomes, text } = await run();
    assert(ok, text);
    assertEquals([await areOn(), outcomes[5]], [becomes, decided === null ? "changed" : "unchanged"], text);
  }
});

Deno.test("the project has the settings: secrets, site, mail server, templates, hook and functions", async () => {
  const { auth, api: rest, secrets } = api.settings;
  const settings = await readSettings();
  for (const name of ["OAUTH_CODE_SECRET", "CRON_SECRET", "FRONT_DOOR_SECRET", "CREDENTIALS_KEY", "MAIL_URL"]) {
    assertEquals(secrets.get(name), settings[name]);
  }
  assertEquals(secrets.get("NEXT_PUBLIC_SITE_URL"), SITE);
  assertEquals([...secrets.keys()].filter((name) => /DATABASE_URL|GOOGLE|TOKEN/.test(name)), []);
  assertEquals([...secrets.values()].filter((value) => !value), []);
  assertEquals([auth.site_url, auth.smtp_host, String(auth.smtp_port)], [SITE, "smtp.example.com", "465"]);
  assertEquals([auth.smtp_user, auth.smtp_pass], ["expenses", SMTP_PASSWORD]);
  assertEquals([auth.smtp_admin_email, auth.smtp_sender_name], ["expenses@example.com", "Expenses"]);
  const { rate_limit_email_sent, rate_limit_otp, rate_limit_verify, rate_limit_token_refresh } = auth;
  assertEquals([rate_limit_email_sent, rate_limit_otp, rate_limit_verify, rate_limit_token_refresh].map(Number), [
    1000,
    300,
    300,
    15_000,
  ]);
  assertEquals([auth.external_google_enabled, auth.external_google_secret], [true, SETTINGS.AUTH_GOOGLE_SECRET]);
  assertEquals(auth.hook_custom_access_token_uri, "pg-functions://postgres/identity/refuse_passwords");
  assertMatch(String(auth.mailer_templates_magic_link_content), /token_hash/);
  assertEquals(rest.db_schema, "public");
  assertEquals(api.live.size, 7);
  const [{ count }] = await database.query<{ count: number }>("select count(*)::int as count from auth.users") as [
    { count: number },
  ];
  assertEquals(count, 0, "the demo data was pushed");
});

Deno.test("the CLI reads supabase/config.toml without a warning and misses no variable that a push needs", async () => {
  const { ok, output: printed } = await supabase(root, ["config", "diff", `--remote=${PROJECT}`]);
  assert(ok, printed);
  // npm prints its own warnings, such as about its settings on this machine.
  const output = printed.replaceAll(/^npm (warn|notice) .*$/gm, "");
  const bad = /warning|deprecated|unrecognized|unknown|env\(/i;
  assert(!bad.test(output), output);
  // One of the CLI's warnings, about a key that version 4 drops.
  const path = join(root, "supabase/config.toml");
  const text = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, text.replace("[auth.email]\n", "[auth.email]\nenable_signup = true\n"));
  const planted = await supabase(root, ["config", "diff", `--remote=${PROJECT}`]);
  await Deno.writeTextFile(path, text);
  assert(bad.test(planted.output), planted.output);
});

Deno.test("the task rejects wrong command lines, and a dry run succeeds", async () => {
  await copy(`${ROOT}local`, join(root, "local"));
  const settings = await readSettings();
  const path = join(folder, "task.env");
  await appendToEnvFile(path, new Map(Object.entries({ ...settings, DATABASE_URL: databaseUrl() })));
  const task = async (...args: string[]) => {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        "--no-prompt",
        "--no-lock",
        "-A",
        "-c",
        `${ROOT}deno.json`,
        join(root, "local/deploy.ts"),
        ...args,
      ],
      env: { NO_COLOR: "1" },
      stdin: "null",
    }).output();
    return { code, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
  };
  const where = ["--project", PROJECT, "--site", SITE];
  for (
    const [args, told] of [
      [[], /--project is/],
      [["--project", PROJECT, "--site", `${SITE}/app`], /--site is the public address/],
      [[...where, "--replace", "MAIL_URL"], /--replace MAIL_URL: the keys are/],
      [[...where, "--front-door", "apache"], /--front-door is one of/],
      [[...where, "--env-file", "nowhere.env"], /There is no .*nowhere\.env/],
    ] as const
  ) {
    const { code, text } = await task(...args);
    assertEquals(code, 1, text);
    assertMatch(text, told);
  }
  const { code, text } = await task(...where, "--env-file", path, "--dry-run", "--front-door", "workers");
  assertEquals(code, 0, text);
  assertEquals((await Deno.stat(join(root, ".local"))).mode! & 0o777, 0o700);
  assertMatch(
    text,
    /6\. Plans[^]*7\. Functions[^]*8\. Front door[^]*wrangler deploy[^]*selfcheck -- https:\/\/expenses/,
  );
  for (const [name, value] of Object.entries(settings)) {
    if (/SECRET|KEY|MAIL_URL/.test(name)) assert(!text.includes(value), name);
  }
});

Deno.test(
  "the vault gets a rotated secret without a pending migration, and is refilled when emptied",
  NIGHTLY,
  async () => {
    const settings = await readSettings();
    await writeSettings({ ...settings, CRON_SECRET: `${PUBLISHED_ENTRY},${settings.CRON_SECRET}` });
    const { ok, outcomes, text } = await run();
    assert(ok, text);
    assertEquals(
      outcomes,
      ["unchanged", "changed", "unchanged", "unchanged", "changed", "unchanged", "unchanged"],
      text,
    );
    await database.query(
      "select vault.update_secret(id, 'https://elsewhere.example') from vault.secrets where name = 'project_url'",
    );
    const again = await run();
    assertEquals(again.outcomes.map((outcome) => outcome === "changed"), [
      false,
      false,
      false,
      false,
      true,
      false,
      false,
    ]);
  },
);

Deno.test("every key is rotated in three edits, and only the last needs --replace", NIGHTLY, async () => {
  const before = await readSettings();
  const names = Object.keys(GENERATED);
  const made = Object.fromEntries(names.map((name) => [name, GENERATED[name]!()]));
  const lists = (list: (name: string, old: string) => string) =>
    writeSettings({ ...before, ...Object.fromEntries(names.map((name) => [name, list(name, before[name]!)])) });
  await lists((name, old) => `${old},${made[name]}`);
  assert((await run()).ok);
  await lists((name, old) => `${made[name]},${old}`);
  const moved = await run();
  assert(moved.ok, moved.text);
  assertEquals(moved.outcomes[4], "changed", "the vault has the old first entry");
  await lists((name) => made[name]!);
  const refused = await run();
  assertEquals([refused.ok, refused.writes], [false, []], refused.text);
  assertMatch(refused.text, /--replace/);
  const dropped = await run({ replace: names });
  assert(dropped.ok, dropped.text);
  for (const name of names) assertEquals(api.settings.secrets.get(name), made[name]);
});

Deno.test(
  "a key that only the project has is not regenerated, and an unrelated one is rejected without --replace",
  NIGHTLY,
  async () => {
    const { CREDENTIALS_KEY, ...rest } = await readSettings();
    await writeSettings(rest);
    const lost = await run();
    assertEquals([lost.ok, lost.writes], [false, []]);
    assertMatch(lost.text, /CREDENTIALS_KEY: the project has a value that .* lacks/);
    await writeSettings({ ...rest, CREDENTIALS_KEY: btoa("k".repeat(32)) });
    const unrelated = await run();
    assertEquals([unrelated.ok, unrelated.writes], [false, []]);
    assertMatch(unrelated.text, /--replace CREDENTIALS_KEY/);
    assertEquals(api.settings.secrets.get("CREDENTIALS_KEY"), CREDENTIALS_KEY);
    const replaced = await run({ replace: ["CREDENTIALS_KEY"] });
    assert(replaced.ok, replaced.text);
    assertEquals(api.settings.secrets.get("CREDENTIALS_KEY"), btoa("k".repeat(32)));
  },
);

Deno.test("deleting a setting's line removes it from the project and turns off sign-in services; other secrets stay", async () => {
  const { AUTH_PROVIDERS, AUTH_GOOGLE_CLIENT_ID, AUTH_GOOGLE_SECRET, ...rest } = await readSettings();
  const listed = { AUTH_PROVIDERS, AUTH_GOOGLE_CLIENT_ID, AUTH_GOOGLE_SECRET } as Record<string, string>;
  api.settings.secrets.set("SOMEBODY_ELSES", "kept");
  await writeSettings({ ...rest, ...listed, SUPPORT_URL });
  assert((await run()).ok);
  assertEquals([api.settings.secrets.get("SUPPORT_URL"), api.settings.auth.external_google_enabled], [
    SUPPORT_URL,
    true,
  ]);
  await writeSettings(rest);
  const dry = await run({ isDryRun: true });
  assertEquals(dry.writes.filter((kind) => !isRead(kind)), []);
  assertMatch(dry.text, /SUPPORT_URL \(removed\)[^]*would run: \$ supabase secrets unset .*SUPPORT_URL/);
  assertMatch(dry.text, /differs: auth\.external\.google\.enabled/);
  const { outcomes, text } = await run();
  assertEquals(outcomes, ["unchanged", "changed", "unchanged", "changed", "unchanged", "unchanged", "unchanged"], text);
  const names = [...api.settings.secrets.keys()];
  assertEquals(
    names.toSorted(),
    [...Object.keys(rest).filter(isFunctionSetting), "NEXT_PUBLIC_SITE_URL", "SOMEBODY_ELSES"].toSorted(),
  );
  assertEquals(api.settings.auth.external_google_enabled, false);
  const again = await run();
  assertEquals(again.outcomes, STEPS.map(() => "unchanged"), again.text);
  await writeSettings({ ...rest, ...listed });
  assert((await run()).ok);
});

Deno.test("functions are uploaded after a source change or a foreign deployment", NIGHTLY, async () => {
  await Deno.writeTextFile(join(root, "shared/roles.ts"), "\n// Changed.\n", { append: true });
  assertEquals((await run()).outcomes.at(-1), "changed");
  assertEquals((await run()).outcomes.at(-1), "unchanged");
  api.bump("oauth");
  assertEquals((await run()).outcomes.at(-1), "changed");
});

Deno.test(
  "a rollback keeps the newer schema and uploads the functions; other differences end the run",
  NIGHTLY,
  async () => {
    const migration = (version: string) => join(root, `supabase/migrations/${version}_other.sql`);
    const write = (version: string) => Deno.writeTextFile(migration(version), "select 1;\n");
    const [earlier, pending, later] = ["20200101000000", "29980101000000", "29990101000000"] as const;
    await write(later);
    const upgraded = await run();
    assertEquals(upgraded.outcomes[2], "changed", upgraded.text);
    await Deno.remove(migration(later));
    await Deno.writeTextFile(join(root, "shared/roles.ts"), "\n// Rolled back.\n", { append: true });
    for (const isDryRun of [true, false]) {
      const { ok, outcomes, text } = await run({ isDryRun });
      assert(ok, text);
      assertEquals([outcomes[2], outcomes.at(-1)], ["unchanged", isDryRun ? "planned" : "changed"], text);
      assertMatch(text, /The database is newer than this checkout; its schema was left as it is\./);
    }
    const isRefused = async () => {
      const { ok, outcomes, text } = await run();
      assertEquals([ok, outcomes.length], [false, 2], text);
      assertMatch(text, /3\. Database[^]*failed: Remote migration versions not found/);
    };
    await write(pending);
    await isRefused();
    await Deno.remove(migration(pending));
    const kept = "supabase_migrations.schema_migrations";
    await database.query(`insert into ${kept} (version) values ('${earlier}')`);
    await isRefused();
    await database.query(`delete from ${kept} where version in ('${earlier}', '${later}')`);
    assert((await run()).ok);
  },
);

Deno.test("an unauthorized token is reported", async () => {
  Deno.env.set("SUPABASE_ACCESS_TOKEN", TOKEN.replace("0", "1"));
  const { ok, text } = await run();
  Deno.env.set("SUPABASE_ACCESS_TOKEN", TOKEN);
  assert(!ok);
  assertMatch(text, /failed: .*(Unauthorized|401)/);
});

Deno.test("secrets are never printed, on a command line or left in a file", async () => {
  const settings = await readSettings();
  const values = [
    ...Object.entries(settings).filter(([name]) => /SECRET|KEY/.test(name)).flatMap(([, value]) => value.split(",")),
    ...[SMTP_PASSWORD, encodeURIComponent(SMTP_PASSWORD), DATABASE_PASSWORD, PUBLISHED_ENTRY, TOKEN],
  ];
  const commandLines = await Deno.readTextFile(argsFile);
  assertMatch(commandLines, /secrets\nset/);
  const output = printed.join("\n");
  assertMatch(output, /\$ supabase db push/);
  for (const value of values) {
    assert(!output.includes(value), "a value was printed");
    assert(!commandLines.includes(value), "a value was on a command line");
  }
  assertEquals((await Deno.stat(envPath)).mode! & 0o777, 0o600);
  for await (const { name } of Deno.readDir(join(folder, "state", "auth", "supabase"))) {
    if (!name.endsWith(".toml")) continue;
    const text = await Deno.readTextFile(join(folder, "state", "auth", "supabase", name));
    assert(!values.some((value) => text.includes(value)), name);
  }
  const left = await Array.fromAsync(Deno.readDir("/tmp"), ({ name }) => name);
  for (const name of left.filter((one) => one.startsWith("expense-deploy-"))) {
    assert(!await Deno.stat(`/tmp/${name}/fill_vault.sql`).catch(() => false), name);
  }
});
