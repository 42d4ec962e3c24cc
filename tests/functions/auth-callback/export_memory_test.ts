/** Memory use and read-ahead of a large export. */
import { ORGANIZATION_STATE } from "../../browser/states/state.ts";
import { assert, assertEquals } from "@std/assert";
import type { Database } from "../../../shared/db/client.ts";
import { collectGarbage } from "../../_support/collect_garbage.ts";
import { download } from "./export_harness.ts";
import { answering, createPages, signIn } from "./harness.ts";

const ROWS = 50_000;
const AT_ONCE = 1000;
const NOTE = "said at dinner ".repeat(30);

/** A database with `ROWS` payments, generated on reading, and the number of requested pages. */
function largeBooks() {
  const asked: string[] = [];
  const others = answering({
    claim_attempt: { outcome: "allowed" },
    note_sign_in: { onboarded: true },
    open_export: { outcome: "ok", organization: { name: "Home", today: "2026-11-20", state: ORGANIZATION_STATE } },
  });
  const database: Database = {
    call(name, args) {
      if (name !== "read_export") return others.call(name, args);
      asked.push(String(args.part));
      const from = Number(args.after ?? 0);
      const isLarge = args.part === "payments";
      const rows = isLarge
        ? Array.from({ length: AT_ONCE }, (_, n) => ({
          id: `pay_${from + n}`,
          ...{ date: "2026-11-01", name: `Lunch ${from + n}`, note: NOTE + Math.random(), amount: "1.50" },
        }))
        : [];
      const next = isLarge && from + AT_ONCE < ROWS ? from + AT_ONCE : null;
      // A copy, like data from the network.
      return Promise.resolve({ outcome: "ok", page: { rows, next, latest_change: null } });
    },
  };
  return { database, asked };
}

async function startLarge(what: string) {
  const { database, asked } = largeBooks();
  const { browser } = await signIn(createPages(database), "mira@example.com");
  const fields = { period: "this_year" };
  const response = await download(browser, "/organizations/org_000000000001/export", what, fields);
  assertEquals(response.status, 200);
  return { body: response.body!, asked };
}

for (const what of ["everything", "payments"]) {
  Deno.test(`${ROWS} payments stream through flat memory: ${what}`, { ignore: !collectGarbage }, async () => {
    const { body } = await startLarge(what);
    const heapUsed = () => (collectGarbage!(), Deno.memoryUsage().heapUsed / 2 ** 20);
    const before = heapUsed();
    let [bytes, chunks, most] = [0, 0, 0];
    for await (const chunk of body) {
      bytes += chunk.length;
      if (chunks++ % 20 === 0) most = Math.max(most, heapUsed() - before);
    }
    assert(bytes > 1_000_000 && chunks > 40, `${bytes} bytes in ${chunks} chunks`);
    // The texts alone take 22 MB per file.
    assert(most < 10, `${Math.round(most)} MiB`);
  });

  Deno.test(`reading stops with the reader and never runs ahead: ${what}`, async () => {
    const { body, asked } = await startLarge(what);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert(asked.length <= 1, `${asked.length} pages before the first byte was taken`);
    const reader = body.getReader();
    while (asked.length < 30) await reader.read();
    const taken = asked.length;
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert(asked.length <= taken + 1, "it waits for the reader");
    await reader.cancel();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert(asked.length <= taken + 1, "it ends with the reader");
  });
}
