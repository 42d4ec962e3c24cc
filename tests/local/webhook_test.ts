/** Payment events at a running stack: `deno task operate webhook`, and behavior while its database is down. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { paymentEvent } from "../../local/payment_event.ts";
import { signBody } from "../../shared/billing/signature.ts";
import { newDatabase } from "../_support/new_database.ts";
import { CHECKOUT_URL, signIn, startStack, type TestStack } from "../_support/stack.ts";
import { waitFor } from "../_support/wait_for.ts";

const SERVER = Deno.env.get("TEST_DATABASE_URL");

/** A new person, and the organization that was just created. */
async function newcomer(stack: TestStack) {
  const { browser } = await signIn(stack, `${crypto.randomUUID()}@example.com`);
  const account = async () => (await browser.open("/account")).html;
  const organizationId = /name="organization_id" value="(org_\w+)"/.exec(await account())![1]!;
  return { account, organizationId };
}

async function webhook(stack: TestStack, ...args: string[]) {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "operate", "webhook", ...args, "--data", stack.folder],
    cwd: new URL("../../", import.meta.url),
    env: { NO_COLOR: "1" },
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  return { success, output: decode(stdout), error: decode(stderr) };
}

Deno.test("deno task operate webhook changes a plan of the running stack", async () => {
  const stack = await startStack({ args: ["--no-schedules"], env: { CHECKOUT_URL } });
  const { account, organizationId } = await newcomer(stack);
  assertStringIncludes(await account(), "Team plan, free to try until");
  const cancelled = ["subscription.cancelled", "--org", organizationId, "--event-id", "evt_1", "--at", "2026-11-20"];
  const first = `subscription.activated for ${organizationId} on the plan team`;
  const said = `subscription.cancelled for ${organizationId} on the plan team`;
  assertEquals(await webhook(stack, ...cancelled), {
    success: true,
    output: `${first}\n200 {"status":"applied"}\n${said}\n200 {"status":"applied"}`,
    error: "",
  });
  assertMatch(await account(), /Team plan, free to try until .+; the subscription ended on 20 November 2026/);
  assertEquals(
    (await webhook(stack, ...cancelled)).output,
    `${first}\n200 {"status":"duplicate"}\n${said}\n200 {"status":"duplicate"}`,
  );
  const unlisted = await webhook(stack, "subscription.charged", "--org", organizationId, "--plan", "plan_unlisted");
  assertEquals(unlisted.output.split("\n")[1], '200 {"status":"parked"}');

  // The demo's organizations keep their plans if the command names none.
  for (const [id, plan] of [[stack.demo!.organization_id, "Team"], [stack.demo!.other_organization_id, "Pro"]]) {
    await webhook(stack, "subscription.halted", "--org", id!);
    const email = plan === "Team" ? stack.demo!.email : stack.demo!.other_email;
    const { html } = (await signIn(stack, email, { next: "/account" })).page;
    assertStringIncludes(html, `${plan} plan; a payment didn’t arrive`);
  }

  const help = await webhook(stack, "subscription.unheard_of");
  assertEquals(help.success, false);
  assertMatch(help.error, /subscription\.activated, .*subscription\.updated/);
  assertEquals(await stack.stop(), 0);
  assertMatch((await webhook(stack, ...cancelled)).error, /No stack is running/);
});

Deno.test({
  name: "a stack without its database returns 503, and the retry applies",
  ignore: !SERVER,
  async fn() {
    const database = await newDatabase(SERVER!);
    const line = cuttableLine(database.url);
    const stack = await startStack({ args: ["--no-schedules", "--db", line.url], env: { CHECKOUT_URL } });
    const { account, organizationId } = await newcomer(stack);
    const planId = stack.demo!.payment_plans.team!;
    const event = await paymentEvent("subscription.charged", { organizationId, planId, at: new Date() });
    const body = new TextEncoder().encode(JSON.stringify(event));
    const signature = await signBody(body, stack.payment_webhook_secret);
    const send = async () => {
      const response = await fetch(`${stack.site_url}/api/payment/webhook`, {
        method: "POST",
        headers: { "x-payment-signature": signature },
        body,
      });
      const { status: outcome } = await response.json();
      return [response.status, outcome];
    };

    line.cut();
    assertEquals(await send(), [503, undefined]);
    line.mend();
    // The function that lost its connections may be restarting, so the sender retries.
    const heard = () =>
      waitFor(async () => {
        const answer = await send();
        if (answer[0] === 200) return answer;
        assertEquals(answer, [503, undefined]);
      });
    assertEquals(await heard(), [200, "applied"]);
    assertEquals(await heard(), [200, "duplicate"]);
    // If its connection is cut during a transaction, the database client throws an uncatchable error.
    for (let round = 1; round <= 4; round++) {
      const sent = Array.from({ length: 6 }, () => send().catch(() => {}));
      await new Promise((resolve) => setTimeout(resolve, 2 * round));
      line.cut();
      await Promise.all(sent);
      line.mend();
      assertEquals(await heard(), [200, "duplicate"]);
    }
    assertStringIncludes(await account(), "Team plan, paid until");

    assertEquals(await stack.stop(), 0);
    line.cut();
    await database.drop();
  },
});

/** A proxy to a database that can be cut: it drops its connections, and accepts none until it is restored. */
function cuttableLine(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const ends = new Set<Deno.Conn>();
  let listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;

  async function serve() {
    for await (const client of listener) {
      const server = await Deno.connect({ hostname: target.hostname, port: Number(target.port) });
      for (const end of [client, server]) ends.add(end);
      client.readable.pipeTo(server.writable).catch(() => {});
      server.readable.pipeTo(client.writable).catch(() => {});
    }
  }
  void serve();
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    cut() {
      listener.close();
      for (const end of ends) {
        try {
          end.close();
        } catch {
          // The peer has already closed the connection.
        }
      }
      ends.clear();
    },
    mend() {
      listener = Deno.listen({ hostname: "127.0.0.1", port });
      void serve();
    },
  };
}
