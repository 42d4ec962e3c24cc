/** A power cut while clients write: every acknowledged write survives, and none is doubled. */
import { assertEquals } from "@std/assert";
import { startStack } from "../_support/stack.ts";
import { connectFor, type Json, newPerson, personOf } from "./person.ts";

const WRITERS = 6;
/** Acknowledged writes before the power cut. */
const MIN_WRITES = 40;

Deno.test("kill -9 during writes loses nothing that was acknowledged", async () => {
  const stack = await startStack({ args: ["--no-demo"] });
  const person = await newPerson(stack, "power@example.com");
  const { call } = await connectFor(person, stack.mcp_url);

  const acknowledged: string[] = [];
  const powerCut = Promise.withResolvers<void>();
  let isOff = false;
  const write = async (writer: number) => {
    for (let index = 0; !isOff; index++) {
      const name = `Write ${writer}-${index}`;
      const envelope = await call("log_expenses", { items: [{ name, amount: "1.00", external_id: name }] })
        .catch(() => undefined);
      if (!envelope?.ok) break;
      acknowledged.push(name);
      if (acknowledged.length === MIN_WRITES) powerCut.resolve();
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
  await powerCut.promise;
  await stack.kill();
  isOff = true;
  await Promise.all(writers);

  const restarted = await stack.restart();
  const again = await connectFor(personOf(restarted, person.email), restarted.mcp_url);
  const stored: string[] = [];
  let cursor: string | undefined;
  do {
    const page: Json = await again.call("list_expenses", { limit: 100, ...(cursor && { cursor }) });
    stored.push(...page.data.rows.map(({ name }: Json) => name));
    cursor = page.next_cursor;
  } while (cursor);

  assertEquals(acknowledged.filter((name) => !stored.includes(name)), []);
  assertEquals(stored.length, new Set(stored).size);
  await again.client.close();
  assertEquals(await restarted.stop(), 0);
});
