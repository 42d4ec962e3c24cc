/** The output of `deno task operate front-door`, and the command lines that it rejects. */
import { assert, assertEquals, assertMatch } from "@std/assert";

const ROOT = new URL("../../", import.meta.url).pathname;
const SITE = "expenses.example.com";

async function printCommand(...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "operate", "front-door", ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", FRONT_DOOR_SECRET: "" },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

const PLACES = ["--site", `https://${SITE}`, "--functions", "https://project.supabase.co/functions/v1"];

Deno.test("deno task operate front-door: reports a missing secret, and rejects missing and surplus arguments", async () => {
  for (const args of [[], [`https://${SITE}`], [...PLACES, "https://more.example"]]) {
    const { code, stdout, stderr } = await printCommand(...args);
    assertEquals([code, stdout], [1, ""], args.join(" "));
    assertMatch(stderr, /--site https:/);
  }
  const without = await printCommand(...PLACES);
  assertEquals(without.code, 0);
  assertMatch(without.stderr, /FRONT_DOOR_SECRET is not set/);
  const path = await Deno.makeTempFile();
  await Deno.writeTextFile(path, "FRONT_DOOR_SECRET=the-first-one,the-second-one\n");
  const whole = await printCommand(...PLACES, "--env-file", path);
  await Deno.remove(path);
  assertEquals([whole.code, whole.stderr], [0, ""]);
  assert(whole.stdout.includes('"the-first-one"') && !whole.stdout.includes("the-second-one"));
});

Deno.test("deno task operate front-door: Caddy serves plain http where the site does", async () => {
  const { stdout } = await printCommand("--site", "http://127.0.0.1:8000", ...PLACES.slice(2));
  assertMatch(stdout, /^http:\/\/127\.0\.0\.1:8000 \{$/m);
});
