/** The test of each README command, or the reason why there is none. */

type Runner = { file: string; holds: string } | { nobody: string };

/** Runs the command exactly as written. */
const FOLLOW = "tests/readme/follow.ts";
const followed = (command: string): [string, Runner] => [command, { file: FOLLOW, holds: `"${command}"` }];

export const RUN_BY: Record<string, Runner> = Object.fromEntries([
  followed("npx -y deno@2.9.6 task start"),
  followed("npx -y deno@2.9.6 task demo"),
  followed("task start --help"),
  followed("deno task deploy -- --project <ref> --site https://<SITE>"),
  followed("deno task selfcheck -- https://<SITE>"),
  ["deno task …", { nobody: "It stands for all of the tasks." }],
  ["deno task db:migration", { file: "tests/upgrade/schema.ts", holds: "writeMigration(" }],
  ["npx -y deno@2.9.6 task test", { file: ".ci/run", holds: "run_tasks test" }],
  [".ci/run --long", { file: ".github/workflows/nightly.yml", holds: "run: .ci/run --long" }],
  [".ci/run", { file: ".github/workflows/ci.yml", holds: "run: .ci/run" }],
  [
    "claude mcp add --transport http expenses http://127.0.0.1:7400/api/mcp",
    { nobody: "Claude Code needs an account; what it sends is in tests/fixtures/clients.ts." },
  ],
  [
    "npx -y @modelcontextprotocol/inspector@2.12.0 --transport http --server-url http://127.0.0.1:7400/api/mcp",
    { file: "tests/e2e/foreign/inspector.ts", holds: 'readmeCommand("@modelcontextprotocol/inspector")' },
  ],
]);
