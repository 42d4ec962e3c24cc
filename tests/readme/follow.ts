/**
 * `deno task suite readme`: runs the README's commands in a clean folder with empty caches, and its deployment against
 * a fake platform, as this user and, for root, as an unprivileged one. It prints the duration of each start, and
 * checks the values that don't depend on the machine: the number of packages that a first start installs, and their
 * size.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { print } from "../../local/command_line.ts";
import { TOOLS } from "../../local/lock.ts";
import { startCluster } from "../_support/cluster.ts";
import { newDatabase } from "../_support/new_database.ts";
import { NIGHTLY } from "../_support/short_form.ts";
import { PROJECT, startManagementApi, TOKEN } from "../deploy/management_api.ts";
import { freshFolder, installed, PEOPLE } from "./fresh_folder.ts";

const MOST_PACKAGES = 190;
const MOST_MEGABYTES = 120;
const SITE = "http://127.0.0.1:7400";
const READY = "Stop with Ctrl-C.";
/** Nothing outside this machine responds. */
const OFFLINE = { https_proxy: "http://127.0.0.1:9", http_proxy: "http://127.0.0.1:9", no_proxy: "127.0.0.1" };

/** Typed by a person with Node but without Deno. */
const typed = (command: string) => command.replace(/^(deno )?task /, "npx -y deno@2.9.6 task ");
const seconds = (value: number) => `${value.toFixed(1)} s`;

for (const person of PEOPLE) {
  const options = person.name === "root" ? NIGHTLY : {};
  Deno.test(
    `the README's commands work as ${person.name} in an empty folder, offline, and from the start`,
    options,
    async () => {
      const folder = await freshFolder(person);
      try {
        let stack = await folder.start("npx -y deno@2.9.6 task start", { sign: READY });
        const cold = stack.seconds;
        const { names, megabytes } = await installed(folder.path);

        // The first start reports its progress and installs what it needs.
        {
          assertMatch(stack.output(), /^Creating the database\./m);
          const tools = names.filter((name) => TOOLS.some((tool) => name.startsWith(`${tool}@`)));
          assertEquals(tools, []);
          assert(names.length <= MOST_PACKAGES, `${names.length} packages, at most ${MOST_PACKAGES}`);
          assert(megabytes <= MOST_MEGABYTES, `${megabytes.toFixed(1)} MB, at most ${MOST_MEGABYTES}`);
        }

        // The demo connects and talks.
        {
          const { code, output } = await folder.run("npx -y deno@2.9.6 task demo");
          assertEquals(code, 0, output);
          assertMatch(output, /connected: \d+ tools/);
          assertStringIncludes(output, "claude mcp add --transport http expenses http://127.0.0.1:7400/api/mcp");
        }

        // The sign-in page has the README's link, and the three addresses respond.
        {
          const page = await (await fetch(`${SITE}/login`)).text();
          assertStringIncludes(page, "Sign in as demo@example.com");
          for (const [, address] of stack.output().matchAll(/^ {2}(?:Site|Connector|Mailbox) +(\S+)$/gm)) {
            const { status, body } = await fetch(address!);
            await body?.cancel();
            assertEquals(status, address!.endsWith("/api/mcp") ? 401 : 200, address);
          }
        }

        // Its help lists the options, and its selfcheck finds no fault.
        {
          const help = await folder.run(typed("task start --help"));
          assertEquals(help.code, 0, help.output);
          assertStringIncludes(help.output, "--fresh");
          const command = "deno task selfcheck -- https://<SITE>".replace("https://<SITE>", SITE);
          const { code, output } = await folder.run(typed(command));
          assertEquals(code, 0, output);
        }

        const { output } = await stack.interrupt();
        assertMatch(
          output,
          /\nStopped\. Your data is in \.local; npx -y deno@2\.9\.6 task start continues from there\.\s*$/,
        );

        // It starts again without a network, and on an emptied folder.
        {
          stack = await folder.start("npx -y deno@2.9.6 task start", { sign: READY, env: OFFLINE });
          const again = stack.seconds;
          await stack.interrupt();
          stack = await folder.start("npx -y deno@2.9.6 task start --fresh", { sign: READY, env: OFFLINE });
          const fresh = stack.seconds;
          await stack.interrupt();
          print(
            `${person.name}: ${names.length} packages, ${megabytes.toFixed(1)} MB; first start ${seconds(cold.all)}, ` +
              `${seconds(cold.own)} of it after the packages were there; fresh ${seconds(fresh.own)}; again ${
                seconds(again.own)
              }`,
          );
        }
      } finally {
        await folder.remove();
      }
    },
  );
}

Deno.test("a filled-in settings file and one command deploy the service, twice", async () => {
  const cluster = await startCluster();
  const { url } = await newDatabase(cluster.urlOf("postgres", "supabase_closed"));
  const uploads = await Deno.makeTempDir({ prefix: "expense-fresh-uploads-" });
  const api = await startManagementApi(uploads, url);
  const folder = await freshFolder({ name: "the current user" }, {
    // The CLI is large, and the caches of the first start are tested above.
    npm_config_cache: Deno.env.get("npm_config_cache") ?? join(Deno.env.get("HOME")!, ".npm"),
    ...(Deno.env.has("DENO_DIR") && { DENO_DIR: Deno.env.get("DENO_DIR")! }),
    // Another suite looks for leftover files with secrets while a deployment may be running.
    TMPDIR: uploads,
    SUPABASE_PROFILE: api.profile,
    SUPABASE_ACCESS_TOKEN: TOKEN,
  });
  try {
    const example = await Deno.readTextFile(join(folder.path, ".env.example"));
    await Deno.writeTextFile(
      join(folder.path, ".env"),
      `${example.replace("MAIL_URL=\n", "MAIL_URL=smtps://expenses:password@smtp.example.com:465\n")}
DATABASE_URL=${url}?sslmode=disable\n`,
    );
    const command = typed("deno task deploy -- --project <ref> --site https://<SITE>")
      .replace("<ref>", PROJECT).replace("<SITE>", "expenses.example.com");
    const dry = await folder.run(`${command} --dry-run`);
    assertEquals(dry.code, 0, dry.output);
    assertEquals(api.live.size, 0);
    const deployed = await folder.run(command);
    assertEquals(deployed.code, 0, deployed.output);
    assertMatch(deployed.output, /8\. Front door[^]*Deployed\./);
    assertEquals(api.live.size, 7);
    const again = await folder.run(command);
    assertEquals(again.code, 0, again.output);
    assertStringIncludes(again.output, "Everything was as it should be: nothing was changed.");
    // Its other files don't affect the stack's data.
    const stack = await folder.start("npx -y deno@2.9.6 task start --port 0", { sign: READY });
    await stack.interrupt();
  } finally {
    await folder.remove();
    await api.close();
    await cluster.stop();
    await Deno.remove(uploads, { recursive: true });
  }
});
