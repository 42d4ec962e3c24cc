/**
 * People's sentences with a model's calls. Each call is accepted, or refused as a bookkeeper would refuse it; the
 * books change accordingly, and the last answer contains the facts of a true reply. `utterances/` has the sentences;
 * each starts from the same household and is rolled back.
 */
import { assert, assertEquals } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import type { Json, Member } from "./connector_harness.ts";
import { moveIn, type World } from "./utterances/world.ts";
import { readUtterances, type Utterance } from "./utterances/read.ts";

/** The state of the books: sums by currency, and the number of expenses and bills. */
async function booksOf({ database, anna }: World): Promise<Record<string, number>> {
  const rows = await database.query<{ name: string; value: string }>(
    `select currency as name, sum(case direction when 'out' then amount_minor else -amount_minor end)::text as value
     from app.payments where organization_id = $1 and deleted_at is null group by currency
     union all
     select case kind when 'bill' then 'bill ' || status else 'expenses' end, count(*)::text from app.expenses
     where organization_id = $1 and deleted_at is null group by 1`,
    [anna.organizationId],
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, Number(value)]));
}

/** The change in the books, as "EUR 14.50, expenses +1". */
function changeOf(before: Record<string, number>, after: Record<string, number>): string {
  return Object.keys({ ...before, ...after }).toSorted().flatMap((name) => {
    const moved = (after[name] ?? 0) - (before[name] ?? 0);
    if (moved === 0) return [];
    return [
      /^[A-Z]{3}$/.test(name)
        ? `${name} ${(moved / (name === "JPY" ? 1 : 100)).toFixed(name === "JPY" ? 0 : 2)}`
        : `${name} ${moved > 0 ? "+" : ""}${moved}`,
    ];
  }).join(", ");
}

/** The arguments, with values from the previous answer for `$path`. */
const fill = (args: Json, answer: Json): Json =>
  JSON.parse(JSON.stringify(args), (_, value) => {
    if (typeof value !== "string" || !value.startsWith("$")) return value;
    return value.slice(1).split(".").reduce((found, step) => found?.[step], answer);
  });

/** Makes the calls and undoes their changes. @returns the change in the books, and the last answer */
async function hear(world: World, { who, calls }: Utterance): Promise<{ effect: string; text: string }> {
  const speaker: Member = world[who];
  const before = await booksOf(world);
  const changes: string[] = [];
  let answer: Json;
  try {
    for (const { tool, args, refused } of calls) {
      const { envelope } = await speaker.call(tool, fill(args, answer));
      assert(envelope, `${tool} is a protocol error`);
      if (envelope.change_id) changes.push(envelope.change_id);
      answer = envelope;
      assertEquals(envelope.error?.code, refused, JSON.stringify(envelope));
    }
    return { effect: changeOf(before, await booksOf(world)), text: JSON.stringify(answer) ?? "" };
  } finally {
    for (const change_id of changes.toReversed()) await speaker.call("undo_change", { change_id });
    assertEquals(changeOf(before, await booksOf(world)), "", "was not taken back");
  }
}

/** Registers a test for each utterance of some files, which share one household. */
async function play(
  files: string[],
  judge: (utterance: Utterance, heard: { effect: string; text: string }) => void,
): Promise<Utterance[]> {
  const utterances = await readUtterances(...files);
  const database = await sharedDatabase();
  let world: Promise<World> | undefined;
  for (const utterance of utterances) {
    Deno.test(`${utterance.id} ${utterance.said}`, async () => {
      judge(utterance, await hear(await (world ??= moveIn(database)), utterance));
    });
  }
  return utterances;
}

const replied = await play(
  ["review.txt", "more.txt", "fresh.txt", "second_reader.txt", "third_reader.txt"],
  ({ effect, says, silent }, heard) => {
    assertEquals(heard.effect, effect, heard.text);
    for (const words of says) assert(words.test(heard.text), `${words} is missing in ${heard.text}`);
    for (const words of silent) assert(!words.test(heard.text), `${words} stands in ${heard.text}`);
  },
);
const habits = await play(["habits.txt"], () => {});

Deno.test("at most 3 % of the first calls of an utterance are refused", () => {
  const firsts = replied.flatMap(({ calls }) => calls.slice(0, 1));
  const refused = firsts.filter((call) => call.refused);
  assert(
    refused.length <= 0.03 * firsts.length || Deno.env.get("ONLY"),
    `${refused.length} of ${firsts.length} first calls are refused`,
  );
});

Deno.test("habits of small models are understood, or refused with a hint that works", () => {
  // The review has three more, which reach no tool: arguments that are null or a text, and an unknown tool.
  assertEquals(habits.filter(({ calls }) => calls.at(-1)?.refused).map(({ id }) => id), [], "end in a refusal");
  const understood = habits.filter(({ calls }) => calls.every(({ refused }) => !refused));
  assert((habits.length === 171 && understood.length >= 150) || Deno.env.get("ONLY"), `${understood.length}`);
});
