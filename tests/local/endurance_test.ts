/** Time, memory and durability limits of the embedded stack. */
import { assert, assertEquals } from "@std/assert";
import { authClient } from "../_support/auth_client.ts";
import { startStack, type TestStack } from "../_support/stack.ts";

/** Processor seconds of a stack so far, all threads, whatever else the machine does. */
async function processorSeconds({ pid }: TestStack): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  // utime and stime (proc(5)), in hundredths of a second; the name before them may contain spaces.
  const [user, system] = stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}
const isEmbedded = !Deno.env.has("TEST_DATABASE_URL");

/** After settling, because it releases startup memory for a few seconds. */
async function residentMb(stack: TestStack): Promise<number> {
  const readings = [];
  for (let reading = 0; reading < 10; reading++) {
    const status = await Deno.readTextFile(`/proc/${stack.pid}/status`);
    readings.push(Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return Math.min(...readings);
}

Deno.test({
  name: "the embedded stack is ready in time and stays within its memory",
  ignore: !isEmbedded || Deno.build.os !== "linux",
  async fn() {
    const first = await startStack({ empty: true });
    const firstSeconds = await processorSeconds(first);
    const firstMb = await residentMb(first);
    await first.stop({ keep: true });
    const second = await first.restart();
    const secondSeconds = await processorSeconds(second);
    const secondMb = await residentMb(second);
    await second.stop();
    assert(firstSeconds < 40, `ready on an empty folder after ${firstSeconds} processor seconds`);
    assert(firstMb < 1024, `${firstMb} MB on an empty folder`);
    assert(secondSeconds < 15, `ready on a used folder after ${secondSeconds} processor seconds`);
    assert(secondMb < 600, `${secondMb} MB on a used folder`);
  },
});

Deno.test("killing the stack loses no acknowledged write", async () => {
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
    assertEquals(acknowledged.filter((email) => !present.has(email)), [], `after kill ${round}`);
  }
  await stack.stop();
});

Deno.test("functions respond while the database is busy", async () => {
  const stack = await startStack({ args: ["--no-demo"] });
  // Sixty mails keep the data service busy, and the discovery document needs no database.
  const { auth } = authClient(stack);
  const mails = Promise.all(
    Array.from({ length: 60 }, (_, index) => auth.signInWithOtp({ email: `${index}@example.com` })),
  );
  const response = await fetch(`${stack.site_url}/.well-known/oauth-protected-resource`);
  await response.body?.cancel();
  assertEquals(response.status, 200);
  assert((await mails).every(({ error }) => error === null));
  await stack.stop();
});
