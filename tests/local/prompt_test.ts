/** `deno task operate db`: SQL on the books of a stopped stack. */
import { assertEquals, assertMatch } from "@std/assert";
import { startStack } from "../_support/stack.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

async function db(data: string, statements: string) {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "operate", "db", "--data", data],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(statements));
  // A refused command ends before it reads input.
  await writer.close().catch(() => {});
  const { code, stdout, stderr } = await child.output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

Deno.test({
  name: "operate db runs statements as the owner, keeps their writes, and requires a stopped stack",
  // On a server it opens psql.
  ignore: Boolean(Deno.env.get("TEST_DATABASE_URL")),
  async fn() {
    const stack = await startStack({ args: ["--no-demo", "--no-schedules"] });
    const during = await db(stack.folder, "select 1;\n");
    await stack.stop({ keep: true });
    assertEquals([during.code, during.stdout], [1, ""]);
    assertMatch(during.stderr, /is in use by another stack/);

    const written = await db(
      stack.folder,
      "create table public.notes (id int);\ninsert into notes\n  values (7);\ndo $$ begin\n  perform 1;\nend $$;\n" +
        "select id, current_user as is\n  from notes",
    );
    assertEquals(written, { code: 0, stdout: '{"id":7,"is":"postgres"}\n', stderr: "" });
    const failed = await db(stack.folder, "select nothing;\nselect count(*)::int from notes;\n");
    assertEquals([failed.code, failed.stdout], [1, '{"count":1}\n']);
    assertMatch(failed.stderr, /column "nothing" does not exist/);
    await Deno.remove(stack.folder, { recursive: true });
    const nowhere = await db(stack.folder, "");
    assertMatch(nowhere.stderr, /There is no stack in .*\. Start one first/);
  },
});
