/** Public ids are unique, ascending over time and not enumerable. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { openDatabase } from "../_support/database.ts";

Deno.test("app.new_id() returns the time in 32nds of a second and a random part", async () => {
  await using database = await openDatabase();
  const made = async (count: number) => {
    const rows = await database.query<{ id: string }>(
      "select app.new_id('exp') as id from generate_series(1, $1::int)",
      [count],
    );
    return rows.map(({ id }) => id);
  };
  const before = Date.now();
  const early = await made(1000);
  const after = Date.now();
  for (const id of early) {
    assertMatch(id, /^exp_[0-9a-f]{15}$/);
    const ticks = Number(BigInt(`0x${id.slice(4)}`) >> 25n);
    const madeAt = Date.UTC(2024, 0, 1) + ticks * 1000 / 32;
    assert(before - 100 <= madeAt && madeAt <= after + 100, `${id} says ${new Date(madeAt).toISOString()}`);
  }
  await new Promise((resolve) => setTimeout(resolve, 70));
  const late = await made(1000);
  assert(late.toSorted()[0]! > early.toSorted().at(-1)!, "two ticks later");
  assertEquals(new Set([...early, ...late]).size, 2000);
  const tails = late.map((id) => id.slice(-6));
  assert(new Set(tails.map((tail) => tail.slice(0, 2))).size > 100, "the random part does not count up");
});
