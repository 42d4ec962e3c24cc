/** Public ids: none twice, later ones after earlier ones, and none that can be counted. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { openDatabase } from "../_support/database.ts";

const LETTERS = "0123456789abcdefghjkmnpqrstvwxyz";

Deno.test("app.new_id() is the time in 32nds of a second and a scattered number", async () => {
  const database = await openDatabase();
  try {
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
      assertMatch(id, /^exp_[0-9a-hjkmnp-tv-z]{12}$/);
      const ticks = [...id.slice(4, 11)].reduce((sum, letter) => sum * 32 + LETTERS.indexOf(letter), 0);
      const madeAt = Date.UTC(2024, 0, 1) + ticks * 1000 / 32;
      assert(before - 100 <= madeAt && madeAt <= after + 100, `${id} says ${new Date(madeAt).toISOString()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 70));
    const late = await made(1000);
    assert(late.toSorted()[0]! > early.toSorted().at(-1)!, "two ticks later");
    assertEquals(new Set([...early, ...late]).size, 2000);
    const tails = late.map((id) => id.slice(11));
    assert(new Set(tails.map((tail) => tail[0])).size > 20, "the number does not count up");
  } finally {
    await database.close();
  }
});
