/** Each command and link of the README has a test or a reason; tests/readme/follow.ts runs the commands. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { cursorLink, vsCodeLink } from "../shared/pages/connect_links.ts";
import { parseReadme, readReadme } from "./readme/commands.ts";
import { RUN_BY } from "./readme/run_by.ts";
import { SUITES } from "./suites.ts";

const CONNECTOR = "http://127.0.0.1:7400/api/mcp";
const read = (path: string) => Deno.readTextFile(new URL(`../${path}`, import.meta.url));
const readme = await readReadme();
const { tasks }: { tasks: Record<string, string> } = JSON.parse(await read("deno.json"));

Deno.test("every command of the README has a test that runs it, or a reason why none can", async () => {
  assertEquals(readme.commands.toSorted(), Object.keys(RUN_BY).toSorted());
  for (const [command, runner] of Object.entries(RUN_BY)) {
    if ("file" in runner) assert((await read(runner.file)).includes(runner.holds), `${command} by ${runner.file}`);
  }
});

Deno.test("test of the test: it finds a new command in a block and in a sentence", () => {
  const { commands } = parseReadme("Run `npm start`, or `tests/`.\n\n```sh\nmake it so   # soon\n```\n");
  assertEquals(commands, ["make it so", "npm start"]);
});

Deno.test("every task and suite in the README exists, and .ci/run runs it", async () => {
  const ci = await read(".ci/run");
  const rows = [...readme.text.matchAll(/^\| (`[a-z: ]+`(?:, `[a-z: ]+`)*) \|/gm)].flatMap(([, cell]) =>
    cell!.split(", ").map((name) => name.slice(1, -1))
  );
  assert(rows.length > 8, `${rows}`);
  const known = [...Object.keys(tasks), ...Object.keys(SUITES).map((suite) => `suite ${suite}`)];
  assertEquals(rows.filter((name) => !known.includes(name)), []);
  // `ok` is for people.
  const isRun = (name: string) => new RegExp(`[ "]${name.replace("suite ", "")}[ "\n]`).test(ci);
  assertEquals(rows.filter((name) => name !== "ok" && !isRun(name)), []);
});

Deno.test("the links that add the connector with one click contain the README's address", () => {
  const urls = Object.fromEntries(
    [...readme.text.matchAll(/^\[(\w+)\]: (\S+)$/gm)].map(([, name, url]) => [name, new URL(url!)]),
  );
  // Markdown hosts allow only https links, and both makers have a page that opens the app.
  const { origin, pathname, searchParams } = urls.cursor!;
  assertEquals(`${origin}${pathname}`, "https://cursor.com/en/install-mcp");
  assertEquals(`${searchParams}`, new URL(cursorLink(CONNECTOR)).searchParams.toString());
  assertEquals(urls.code!.origin + urls.code!.pathname, "https://insiders.vscode.dev/redirect");
  assertEquals(urls.code!.searchParams.get("url"), vsCodeLink(CONNECTOR));
});

Deno.test("commands work in PowerShell and cmd too: no quotes, variables, pipes or continued lines", () => {
  assertEquals(readme.commands.filter((command) => /['"$\\|&;]|^export /.test(command)), []);
  // Deno's own shell runs tasks. It supports assignments before a command, &&, and globs.
  const shell = /^((^| && )(\w+=\S+ )*deno [\w ./:*=,@+-]+)+$/;
  for (const [name, task] of Object.entries(tasks)) assertMatch(task, shell, name);
});

Deno.test("the README, its checks and the devcontainer name the same versions", async () => {
  const others = await Promise.all([".ci/run", ".devcontainer/devcontainer.json", "CONTRIBUTING.md"].map(read));
  const named = new Set([readme.text, ...others].flatMap((text) => text.match(/\bdeno@\d[\d.]*\d/g) ?? []));
  assertEquals([...named].length, 1, `${[...named]}`);
});
