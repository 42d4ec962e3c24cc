/** What the embedded stack promises about time, memory and power cuts. Measured values are printed. */
import { assert, assertEquals } from "@std/assert";
import { authClient } from "../_support/auth_client.ts";
import { startStack, type TestStack } from "../_support/stack.ts";

// The promises are for a machine of its own; a busy one must not fail the tests.
const SLACK = 3;
const isEmbedded = !Deno.env.has("TEST_DATABASE_URL");

async function residentMb(stack: TestStack): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${stack.pid}/status`);
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024);
}

const say = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(`  ${text}\n`));

Deno.test({
  name: "the embedded stack is ready in time and stays within its memory",
  ignore: !isEmbedded || Deno.build.os !== "linux",
  async fn() {
    const first = await startStack({ empty: true });
    const firstMb = await residentMb(first);
    await first.stop({ keep: true });
    const second = await first.restart();
    const secondMb = await residentMb(second);
    await second.stop();
    say(`empty folder: ready in ${Math.round(first.readyMs)} ms (budget 6000), ${firstMb} MB resident (budget 1024)`);
    say(`used folder: ready in ${Math.round(second.readyMs)} ms (budget 2000), ${secondMb} MB resident (budget 600)`);
    assert(first.readyMs < 6000 * SLACK && second.readyMs < 2000 * SLACK);
    assert(firstMb < 1024 * 1.2 && secondMb < 600 * 1.2);
  },
});

Deno.test("no acknowledged write is lost when the stack is killed while writing", async () => {
  let stack = await startStack({ args: ["--no-demo"] });
  const acknowledged: string[] = [];
  for (const round of [1, 2]) {
    const { admin } = authClient(stack, stack.secret_key).auth;
    const killed = Promise.withResolvers<void>();
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let index = 0;; index++) {
        const email = `${round}-${writer}-${index}@example.com`;
        const { data, error } = await admin.createUser({ email }).catch((thrown) => ({ data: null, error: thrown }));
        if (error || !data) return;
        acknowledged.push(email);
        if (acknowledged.length === round * 60) killed.resolve(stack.kill());
      }
    });
    await killed.promise;
    await Promise.all(writers);
    stack = await stack.restart();
    const { data } = await authClient(stack, stack.secret_key).auth.admin.listUsers();
    const present = new Set(data.users.map(({ email }) => email));
    assertEquals(acknowledged.filter((email) => !present.has(email)), []);
  }
  say(`${acknowledged.length} acknowledged writes outlived two kills`);
  await stack.stop();
});

Deno.test("functions answer while the database is busy", async () => {
  const stack = await startStack({ args: ["--no-demo"] });
  // Sixty mails keep the data service busy; the discovery document needs no database.
  const { auth } = authClient(stack);
  const mails = Promise.all(
    Array.from({ length: 60 }, (_, index) => auth.signInWithOtp({ email: `${index}@example.com` })),
  );
  const startedAt = performance.now();
  const response = await fetch(`${stack.site_url}/.well-known/oauth-protected-resource`);
  await response.body?.cancel();
  say(`answered in ${Math.round(performance.now() - startedAt)} ms meanwhile`);
  assertEquals(response.status, 200);
  assert((await mails).every(({ error }) => error === null));
  await stack.stop();
});
