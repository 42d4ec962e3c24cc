/** Plans on a stack: off until the service sells them or `deno task operate plans` turns them on. */
import { assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { CHECKOUT_URL, signIn, startStack, type TestStack } from "../_support/stack.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

async function plans(...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "operate", "plans", ...args],
    cwd: ROOT,
    env: { DATABASE_URL: "", NO_COLOR: "1" },
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  return { code, out: text(stdout), problem: text(stderr) };
}

/** The account of ann@example.com, in words, a year after a stack's first day. */
async function accountIn(stack: TestStack): Promise<string> {
  const now = new Date(Date.now() + 400 * 86_400_000).toISOString();
  await fetch(`${stack.local_url}/clock`, { method: "POST", body: JSON.stringify({ now }) });
  const { page } = await signIn(stack, "ann@example.com");
  assertEquals(page.url.pathname, "/account");
  return page.html.replaceAll(/<(style|script).*?<\/\1>/gs, "");
}

Deno.test({
  name: "a stack has plans once it has a checkout, unless deno task operate plans has decided",
  // On a server the folder has no database; tests/db/plans_off_test.ts covers the same statements.
  ignore: Boolean(Deno.env.get("TEST_DATABASE_URL")),
  async fn() {
    let stack = await startStack({ args: ["--no-demo"] });
    const { folder } = stack;
    const sellOn = async () => {
      stack = await startStack({ args: ["--no-demo", "--data", folder], env: { CHECKOUT_URL }, empty: true });
    };
    const speaksOfPlans = /Not included:|free to try|trial|Free plan/;
    try {
      const { page } = await signIn(stack, "ann@example.com");
      assertNotMatch(page.html, speaksOfPlans);
      assertNotMatch(await accountIn(stack), speaksOfPlans);
      const busy = await plans("off", "--data", folder);
      assertEquals(busy.code, 1);
      assertStringIncludes(busy.problem, "is in use by another stack");
      await stack.stop({ keep: true });

      await sellOn();
      assertMatch(await accountIn(stack), /Free plan; the Team plan trial ended/);
      await stack.stop({ keep: true });

      assertEquals((await plans("off", "--data", folder)).out, `Plans are off now in ${folder}.`);
      assertEquals((await plans("off", "--data", folder)).out, `Plans were off already in ${folder}.`);
      assertEquals((await plans("sideways", "--data", folder)).code, 1);
      await sellOn();
      assertNotMatch(await accountIn(stack), speaksOfPlans);
    } finally {
      await stack.stop().catch(() => {});
      await Deno.remove(folder, { recursive: true }).catch(() => {});
    }
  },
});
