/** A self-hoster turns plans off with `deno task plans`: on a stopped stack's folder, never under a running one. */
import { assertEquals, assertNotMatch, assertStringIncludes } from "@std/assert";
import { signIn, startStack } from "../_support/stack.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

async function plans(...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "plans", "--", ...args],
    cwd: ROOT,
    env: { DATABASE_URL: "", NO_COLOR: "1" },
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  return { code, out: text(stdout), problem: text(stderr) };
}

Deno.test({
  name: "deno task plans -- off, between two starts of a stack, ends trials for good",
  // On a server the folder has no database; the same statement is tested in tests/db/plans_off_test.ts.
  ignore: Boolean(Deno.env.get("TEST_DATABASE_URL")),
  async fn() {
    let stack = await startStack({ args: ["--no-demo"] });
    try {
      const { page } = await signIn(stack, "ann@example.com");
      assertStringIncludes(page.html, "free to try until");
      const busy = await plans("off", "--data", stack.folder);
      assertEquals(busy.code, 1);
      assertStringIncludes(busy.problem, "is in use by another stack");

      await stack.stop({ keep: true });
      assertEquals((await plans("off", "--data", stack.folder)).out, `Plans are off now in ${stack.folder}.`);
      assertEquals((await plans("off", "--data", stack.folder)).out, `Plans were off already in ${stack.folder}.`);
      assertEquals((await plans("sideways", "--data", stack.folder)).code, 1);
      stack = await stack.restart();
      const next = new Date(Date.now() + 400 * 86_400_000).toISOString();
      await fetch(`${stack.local_url}/clock`, { method: "POST", body: JSON.stringify({ now: next }) });
      const { page: later } = await signIn(stack, "ann@example.com");
      assertEquals(later.url.pathname, "/account");
      assertNotMatch(later.html.replaceAll(/<(style|script).*?<\/\1>/gs, ""), /Off on this plan|free to try|trial/);
    } finally {
      await stack.stop();
    }
  },
});
