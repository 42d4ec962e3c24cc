/** The page that accepts a bank's file: before and after the upload, and one file per link. */
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { STATES } from "../../browser/states.ts";
import { csv, idIn, linkFor, longStatement, runStep, send, STATEMENT, uploadTest } from "./upload_harness.ts";

const text = (html: string) =>
  html.replace(/<(style|title)\b.*?<\/\1>|<[^>]+>/gs, " ").replace(/\s+/g, " ").replaceAll("&#39;", "'");

uploadTest("an uploaded file is read, and the page shows the result", async (test) => {
  const { mira } = test;
  const path = await linkFor(test, mira);
  const form = await (await mira.browser.get(path)).text();
  for (const said of ["It goes to", "Up to 10 MB per file", "50,000 rows", "camt.052"]) {
    assertStringIncludes(text(form), said);
  }

  const sent = await mira.browser.upload(form, csv());
  assertEquals([sent.status, sent.headers.get("location")], [303, path]);
  const page = await mira.browser.get(path);
  assertEquals([page.status, page.headers.get("cache-control")], [200, "no-store"]);
  const read = text(await page.text());
  for (
    const said of [
      "Go back to your assistant and say: “It’s uploaded.”",
      "File october.csv",
      "New expenses 2",
      "Period 1 October 2026 to 2 October 2026",
      "Total €78.70",
      "Left out 1 incoming payment (recorded as income, not as spending)",
      "LIDL SAGT DANKE",
    ]
  ) assertStringIncludes(read, said);

  const { data: { preview } } = await runStep(test, mira, { import_id: idIn(path) });
  assertEquals([preview.rows_ok, preview.totals], [2, { EUR: "78.70" }]);
  assertEquals((await runStep(test, mira, preview.commit_with)).data.created, 2);
  assertStringIncludes(text(await (await mira.browser.get(path)).text()), "This file is in your books");
});

uploadTest("a link accepts one file; a second one, later or concurrent, is not read", async (test) => {
  const { mira } = test;
  const path = await linkFor(test, mira);
  const form = await (await mira.browser.get(path)).text();
  const other = csv(STATEMENT.replaceAll("LIDL", "Other"));
  const both = await Promise.all([mira.browser.upload(form, csv()), mira.browser.upload(form, other)]);
  assertEquals(both.map(({ status }) => status).sort(), [303, 409]);
  const again = await mira.browser.upload(form, other);
  assertEquals(again.status, 409);
  assertStringIncludes(text(await again.text()), "A link takes one file, so this one wasn’t read.");
  const [kept] = await test.database.query<{ files: number; rows: number }>(
    `select count(distinct b.file)::int as files, count(*)::int as rows
     from app.import_rows as r join app.import_batches as b on b.id = r.import_id`,
  );
  assertEquals(kept, { files: 1, rows: 3 });
});

uploadTest("an unreadable file is reported and discarded, and another one may be sent", async (test) => {
  const { mira } = test;
  const path = await linkFor(test, mira);
  const refused: [string, File | undefined, string][] = [
    ["none", undefined, "No file was chosen."],
    ["empty", csv(""), "The file has no rows."],
    ["only a header", csv(STATEMENT.split("\r\n")[0]!), "No payments were found"],
    ["ZIP", new File(["PK\x03\x04\x14\0\0\0\x08\0"], "october.zip"), "This is an archive (ZIP)"],
    ["too many rows", csv(longStatement(50_001)), "more than 50000 rows"],
  ];
  for (const [what, file, why] of refused) {
    const response = await send(mira.browser, path, file);
    const page = text(await response.text());
    assertEquals([what, response.status], [what, 400], page);
    assertStringIncludes(page, why);
    assertStringIncludes(page, "Nothing was saved.");
  }
  const damaged = await send(mira.browser, path, new File(["%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj"], "october.pdf"));
  assertEquals(damaged.status, 400);
  assertMatch(text(await damaged.text()), /No document was saved.*This PDF is damaged\./);
  const [batch] = await test.database.query("select state, file, read -> 'name' as name from app.import_batches");
  assertEquals(batch, { state: "waiting", file: null, name: null });
  assertEquals((await send(mira.browser, path, csv())).status, 303);
});

uploadTest(
  "the file's name is shown as shortened text without hidden characters",
  async (test) => {
    const { mira, database } = test;
    const names = {
      '"><script>alert(1)</script>.csv': '"><script>alert(1)</script>.csv'.split("/").at(-1),
      "a\u202egnp\u0007\u2028.csv": "agnp .csv",
      "C:\\Users\\Mira\\october.csv": "october.csv",
      [`${"long ".repeat(200)}.csv`]: `…${"long ".repeat(200).slice(-115)}.csv`,
    };
    for (const [name, shown] of Object.entries(names)) {
      const path = await linkFor(test, mira);
      assertEquals((await send(mira.browser, path, csv(STATEMENT, name))).status, 303, name);
      const page = await (await mira.browser.get(path)).text();
      assertFalse(page.includes("<script"), page);
      const [batch] = await database.query<{ name: string }>(
        "select read ->> 'name' as name from app.import_batches where id = $1",
        [idIn(path)],
      );
      assertEquals(batch!.name, shown);
    }
  },
);

uploadTest("hidden and unstorable characters are not read", async (test) => {
  const { mira, database } = test;
  for (
    const [odd, kept] of [["LI\0DL", "LIDL"], ["LIDL\ud800", "LIDL\ufffd"], ["LI\u202eDL", "LIDL"], [
      "LIDL\u{e0049}\u{e0047}",
      "LIDL",
    ]]
  ) {
    const path = await linkFor(test, mira);
    assertEquals((await send(mira.browser, path, csv(STATEMENT.replace("LIDL", odd!)))).status, 303, odd);
    const [row] = await database.query<{ name: string }>(
      "select draft ->> 'name' as name from app.import_rows where import_id = $1 and line = 2",
      [idIn(path)],
    );
    assertEquals(row!.name, `${kept} SAGT DANKE 4411`);
  }
});

uploadTest("an interrupted file shows its progress and continues from there", async (test) => {
  const { mira, pages, database } = test;
  const path = await linkFor(test, mira);
  // Each step takes time, so the work must stop.
  const started = pages.clock.now.getTime();
  let steps = 0;
  Object.defineProperty(pages.clock, "now", { get: () => new Date(started + 2500 * steps++) });
  assertEquals((await send(mira.browser, path, csv(longStatement(2100)))).status, 303);
  const [first] = await database.query<{ state: string }>("select state, staged_through from app.import_batches");
  assert(first!.state === "reading" || first!.state === "matching", first!.state);
  for (let posts = 1;; posts++) {
    assert(posts < 20, "it never ends");
    const page = await (await mira.browser.get(path)).text();
    if (page.includes("We’ve read your file")) break;
    assertStringIncludes(text(page), "% read and compared with your books");
    assertStringIncludes(page, "It’s uploaded.");
    assertEquals((await mira.browser.submit(page, "Continue")).headers.get("location"), path);
  }
  assertStringIncludes(text(await (await mira.browser.get(path)).text()), "New expenses 2,100");
});

uploadTest("a file without spending until an answer is stored and read with the answer", async (test) => {
  const { mira } = test;
  const path = await linkFor(test, mira);
  // Its export writes spending with a minus, and its balance contradicts that.
  const contradictory = [
    "Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance",
    ...["Lidl,10.00,0.00,EUR,COMPLETED,990.00", "Aldi,20.00,0.00,EUR,COMPLETED,970.00"].map((rest, n) =>
      `CARD_PAYMENT,Current,2026-10-0${n + 1} 10:00:00,2026-10-0${n + 1} 10:00:00,${rest}`
    ),
  ].join("\n");
  assertEquals((await send(mira.browser, path, csv(contradictory))).status, 303);
  const page = await (await mira.browser.get(path)).text();
  assertStringIncludes(text(page), "Your assistant has a question before we can read it.");
  assertFalse(page.includes("Continue"));

  await runStep(test, mira, { import_id: idIn(path), answers: { negative_is_expense: false } });
  const { data: { import: state } } = await runStep(test, mira, { import_id: idIn(path), step: "load" });
  assertEquals([state.state, state.mapping], ["reading", { negative_is_expense: false }]);
});

uploadTest("a file without readable rows is reported", async (test) => {
  const { mira } = test;
  const path = await linkFor(test, mira);
  const far = STATEMENT.replaceAll("2026-10-", "2029-10-");
  assertEquals((await send(mira.browser, path, csv(far))).status, 303);
  const page = await mira.browser.get(path);
  assertEquals(page.status, 200);
  assertStringIncludes(text(await page.text()), "None of its rows can be read.");
});

uploadTest("a file with rows only in closed months names these months", async (test) => {
  const { mira, database } = test;
  await database.query("update identity.organizations set closed_through = '2026-10-31' where id = $1", [
    mira.organizationId,
  ]);
  const shown = async (statement: string) => {
    const path = await linkFor(test, mira);
    await send(mira.browser, path, csv(statement));
    return text(await (await mira.browser.get(path)).text());
  };
  assertStringIncludes(
    await shown(STATEMENT),
    "All its rows are from October 2026, and that month is closed in your books, so nothing can be added. Your " +
      "assistant can say who may reopen it.",
  );
  assertStringIncludes(
    await shown(STATEMENT.replaceAll("2026-10-01", "2026-09-30")),
    "All its rows are from September 2026 to October 2026, and those months are closed in your books",
  );
});

Deno.test("a refund is negative, and counts have the separators of amounts", async () => {
  const shown = async (name: string) =>
    text(await (await STATES.find((state) => state.name === name)!.show("https://expenses.example")).text());
  assertStringIncludes(await shown("upload-read"), "Ticket Berlin Deutsche Bahn · 2 October 2026 · refund -€49.00");
  const awkward = await shown("upload-read-awkward");
  for (const said of ["New expenses 49,812", "10,001 incoming payments"]) assertStringIncludes(awkward, said);
  assertStringIncludes(await shown("proposal-file"), "1,200 expenses from a file, €14,500.00 and");
  assertStringIncludes(await shown("activity-change-large"), "and 1,196 more");
});
