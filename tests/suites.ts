/**
 * `deno task suite <name> [-- [--short] arguments]`: the suites outside `deno task test`, because they take minutes or
 * need PostgreSQL, Chromium or other programs. Arguments go to each command of the suite.
 */
const TEST = ["test", "--lock=tests/deno.lock", "--quiet", "--no-prompt", "--no-check", "-A"];
const RUN = ["run", "--lock=tests/deno.lock", "--quiet", "--no-prompt", "--no-check", "-A"];

interface Suite {
  /** The commands run in this order until one fails. */
  commands: string[][];
  env?: Record<string, string>;
  /**
   * The replacements for `--short`, before each change; the full form runs every night. `SHORT_FORM` is set for all
   * (tests/_support/short_form.ts).
   */
  short?: Partial<Omit<Suite, "short">>;
}

const tests = (...files: string[]): Suite => ({ commands: [[...TEST, ...files]] });
const program = (...args: string[]): Suite => ({ commands: [[...RUN, ...args]] });

const PAGES = ["pages", "journey", "people", "approvals", "activity", "books", "consent", "chart", "mails", "pictures"];

/**
 * A server that is killed with its PostgreSQL (docs/self-hosting.md). A fixed low rate leaves time to recover, so the
 * test judges a slow machine by its responses, not by its speed.
 */
const SERVER = [...RUN, "tests/load/run.ts", "--server", "--faults", "--only", "killed", "--rate", "5"];

/** The longest stories; database tests check their rules, and the readme suite runs the demo too. */
const NIGHTLY_STORIES = ["year", "twelve_people", "demo", "budgets", "mails_in_time", "calendar", "plans_off"];

export const SUITES: Readonly<Record<string, Suite>> = {
  e2e: {
    ...tests("--parallel", "tests/e2e/", "tests/upgrade/"),
    // The quarter and the year of statements run in the short form, too.
    short: tests(
      "--parallel",
      `--ignore=${NIGHTLY_STORIES.map((story) => `tests/e2e/${story}_test.ts`)}`,
      "tests/e2e/",
      "tests/upgrade/",
    ),
  },
  stack: tests("--ignore=tests/local/endurance_test.ts", "tests/local/"),
  limits: tests("tests/hostile/", "tests/local/endurance_test.ts"),
  // One process per file, so that no stack or browser outlives its file.
  browser: { commands: PAGES.map((page) => [...TEST, `tests/browser/${page}.ts`]) },
  pictures: { ...tests("tests/browser/pictures.ts"), env: { UPDATE_PICTURES: "1" } },
  clients: tests("tests/e2e/foreign/mcp_remote.ts", "tests/e2e/foreign/inspector.ts"),
  server: tests("tests/self_hosting/follow.ts"),
  readme: tests("tests/readme/follow.ts"),
  conformance: program("tests/conformance/run.ts"),
  edge: tests("tests/edge/edge.ts"),
  deploy: tests("tests/deploy/deploy.ts", "tests/deploy/command.ts"),
  migrations: {
    commands: [
      [...TEST, "tests/upgrade/schema.ts", "tests/upgrade/windows.ts"],
      [...TEST, "tests/pg/migrations.ts"],
    ],
    short: { env: { OLD_CODE_FILES: "4" } },
  },
  faults: program("tests/faults/run.ts"),
  fuzz: { ...tests("tests/fuzz/fuzz.ts"), short: { env: { FUZZ_REQUESTS: "4000" } } },
  load: {
    commands: [
      [...RUN, "tests/load/run.ts"],
      [...SERVER, "--minutes", "3"],
      [...TEST, "tests/load/overload.ts"],
      [...TEST, "--parallel", "tests/load/proof.ts", "tests/load/histories.ts", "tests/load/embedded.ts"],
    ],
    short: {
      commands: [
        [...RUN, "tests/load/run.ts", "--minutes", "0.5"],
        [...SERVER, "--minutes", "1.5"],
        [...TEST, "tests/load/overload.ts"],
        [...TEST, "--parallel", "tests/load/histories.ts", "tests/load/embedded.ts"],
      ],
      env: { RUNS: "2" },
    },
  },
  "load-long": {
    commands: [
      [...TEST, "tests/load/overload.ts", "tests/load/histories.ts", "tests/load/embedded.ts"],
      [...TEST, "tests/fuzz/fuzz.ts"],
    ],
    env: { HISTORIES: "100", OPERATIONS: "1000", RUNS: "200", OVERLOAD_SECONDS: "30", FUZZ_REQUESTS: "200000" },
  },
  mutants: program("tests/mutants/run.ts"),
  soak: program("tests/load/run.ts", "--minutes", "10"),
};

if (import.meta.main) {
  const [name = "", ...args] = Deno.args.filter((arg) => arg !== "--" && arg !== "--short");
  const suite = SUITES[name];
  if (!suite) {
    throw new Error(`deno task suite takes one of ${Object.keys(SUITES).join(", ")}`);
  }
  const isShort = Deno.args.includes("--short");
  const { commands, env } = { ...suite, ...(isShort && suite.short) };
  for (const command of commands) {
    const { code } = await new Deno.Command(Deno.execPath(), {
      args: [...command, ...args],
      env: { ...env, ...(isShort && { SHORT_FORM: "1" }) },
    }).spawn().status;
    if (code !== 0) Deno.exit(code);
  }
}
