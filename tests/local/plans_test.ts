/** The books that `deno task operate plans` changes; tests/e2e/plans_off_test.ts covers a stack. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";

const ROOT = new URL("../../", import.meta.url).pathname;

async function plans(cwd: string, ...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-lock",
      "-A",
      "-c",
      `${ROOT}deno.json`,
      `${ROOT}local/operate.ts`,
      "plans",
      ...args,
    ],
    cwd,
    env: { DATABASE_URL: "", NO_COLOR: "1" },
    stdin: "null",
  }).output();
  return { code, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

Deno.test("plans: uses the settings' server, and requires a folder without one", async () => {
  const folder = await Deno.makeTempDir({ prefix: "expense-plans-" });
  // A server that closes the connection.
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const address = `127.0.0.1:${(listener.addr as Deno.NetAddr).port}`;
  let connections = 0;
  const serving = (async () => {
    for await (const connection of listener) {
      connections += 1;
      connection.close();
    }
  })();
  try {
    await Deno.mkdir(join(folder, ".local"));
    await Deno.writeTextFile(join(folder, ".local/postgres.ready"), "digest");

    const lost = await plans(folder, "off");
    assertEquals([lost.code, connections], [1, 0]);
    assertMatch(lost.text, /^DATABASE_URL is neither in the environment nor in \.env\.[^]*--data <folder>/);

    await Deno.writeTextFile(join(folder, ".env"), `DATABASE_URL=postgresql://postgres:secret@${address}/postgres\n`);
    const asked = await plans(folder, "off");
    assertEquals(asked.code, 1);
    assertEquals(connections > 0, true, asked.text);
    assertEquals(asked.text.includes("secret"), false);

    const elsewhere = await plans(folder, "off", "--data", "nowhere");
    assertStringIncludes(elsewhere.text, "There is no stack in nowhere.");
    const names = await Array.fromAsync(Deno.readDir(join(folder, ".local")), ({ name }) => name);
    assertEquals(names, ["postgres.ready"]);
  } finally {
    listener.close();
    await serving;
    await Deno.remove(folder, { recursive: true });
  }
});
