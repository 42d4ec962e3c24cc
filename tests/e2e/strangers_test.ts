/** A request without a valid token must not block the running stack; one such request once blocked it for 70 s. */
import { assert, assertEquals } from "@std/assert";
import { startStack } from "../_support/stack.ts";
import { connectFor, newPerson } from "./person.ts";

/** 524,000 bytes, as in the attack. */
const CSV = `date,amount,name\n"${'"x'.repeat(131_000)}${" ".repeat(261_970)},\n`;

/** CPU milliseconds used by a process, from Linux; resolution is a hundredth of a second. */
async function processorMs(pid: number): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const [user, system] = stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 13).map(Number) as [number, number];
  return (user + system) * 10;
}

Deno.test("a hostile file is refused in under 100 ms while another request is served", async () => {
  const stack = await startStack({ args: ["--no-demo"] });
  const { tokens } = await connectFor(await newPerson(stack, "strangers@example.com"), stack.mcp_url);
  const attack = async (token: string) => {
    const response = await fetch(stack.mcp_url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "import_expenses", arguments: { csv: CSV } },
      }),
    });
    await response.body?.cancel();
    return response.status;
  };
  const visit = async () => {
    const response = await fetch(stack.site_url);
    await response.body?.cancel();
    return response.status < 400;
  };
  /** The median of five, each with a concurrent visit. */
  const cost = async (token: string, status: number) => {
    const times: number[] = [];
    for (let i = 0; i < 5; i++) {
      const since = await processorMs(stack.pid);
      assertEquals(await Promise.all([attack(token), visit()]), [status, true]);
      times.push(await processorMs(stack.pid) - since);
    }
    return times.sort((a, b) => a - b)[2]!;
  };
  // Warm-up for lazy compilation.
  await cost(tokens().access_token, 200);

  const stranger = await cost(`exp_at_${"a".repeat(43)}`, 401);
  assert(stranger < 100, `${stranger} ms for a stranger`);
  const member = await cost(tokens().access_token, 200);
  assert(member < 200, `${member} ms for a member`);
  await stack.stop();
});
