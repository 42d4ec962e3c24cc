/** The download of all matching expenses: access and completeness. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { signDownload } from "../../../shared/export/download_token.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { accountTest, onboarded, type Owner } from "./account_harness.ts";
import type { Pages } from "./harness.ts";

const COUNT = 2300;

/** Books with more rows than the database reads at once, one of them a formula. */
async function fill(database: TestDatabase, { organizationId }: Owner, name: string): Promise<string> {
  await database.query(
    `insert into app.expenses (id, organization_id, kind, name)
     select app.new_id('exp'), $1, 'one_off', case n when 1 then '=1+1' else $2 || n end from generate_series(1, $3::int) as n`,
    [organizationId, name, COUNT],
  );
  await database.query(
    `insert into app.payments (organization_id, expense_id, amount_minor, currency, paid_on)
     select organization_id, id, 150, 'EUR', '2026-11-01'::date + (recorded_seq % 20)::int from app.expenses where organization_id = $1`,
    [organizationId],
  );
  return organizationId;
}

async function linkOf(
  pages: Pages,
  download: { userId: string; organizationId: string; filter?: Record<string, unknown> },
) {
  const { token } = await signDownload(pages.config.codeSecrets, { filter: {}, ...download, at: pages.clock.now });
  return `/account/expenses.csv?t=${token}`;
}

accountTest(
  "the requester downloads the whole file, and the server stores none of it",
  async (pages, database) => {
    const mira = await onboarded(pages, database);
    const organizationId = await fill(database, mira, "Lunch ");
    const eva = await onboarded(pages, database, "eva@example.com");
    await fill(database, eva, "Secret ");
    const response = await mira.browser.get(await linkOf(pages, { userId: mira.id, organizationId }));
    const { headers } = response;
    assertEquals([response.status, headers.get("content-type"), headers.get("cache-control")], [
      200,
      "text/csv; charset=utf-8",
      "no-store",
    ]);
    assertEquals(headers.get("content-disposition"), 'attachment; filename="expenses.csv"');
    const [header, ...lines] = (await response.text()).trimEnd().split("\r\n");
    assert(header!.startsWith("id,kind,date,name,"));
    assertEquals([lines.length, new Set(lines.map((line) => line.split(",")[0])).size], [COUNT, COUNT]);
    assertEquals(lines.filter((line) => line.includes("Secret")), [], "nothing of another organization");
    assertEquals(lines.filter((line) => line.includes(",'=1+1,")).length, 1, "a formula stays text");

    const filter = { from: "2026-11-01", to: "2026-11-01", query: "lunch" };
    const few = await (await mira.browser.get(await linkOf(pages, { userId: mira.id, organizationId, filter }))).text();
    const days = few.trimEnd().split("\r\n").slice(1).map((line) => line.split(",")[2]);
    assertEquals([new Set(days), days.length > 100], [new Set(["2026-11-01"]), true]);
  },
);

accountTest("a link works for its signed-in person for ten minutes", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const organizationId = await fill(database, mira, "Lunch ");
  const eva = await onboarded(pages, database, "eva@example.com");
  const link = await linkOf(pages, { userId: mira.id, organizationId });

  const anybody = await pages.browser().get(link);
  assertEquals([anybody.status, anybody.headers.get("location")], [303, `/login?next=${encodeURIComponent(link)}`]);
  const refused = async (browser: typeof mira.browser, path: string) => {
    const response = await browser.get(path);
    const page = await response.text();
    assertEquals([response.status, response.headers.get("cache-control")], [403, "no-store"]);
    assert(!page.includes("Lunch"));
    return page;
  };
  assertStringIncludes(await refused(eva.browser, link), "ten minutes");
  await refused(mira.browser, `${link}x`);
  await refused(mira.browser, "/account/expenses.csv");
  // A link that names her and an organization of which she isn't a member.
  const foreign = await linkOf(pages, { userId: eva.id, organizationId });
  assertStringIncludes(await refused(eva.browser, foreign), "no longer allowed");
  pages.clock.now = new Date(pages.clock.now.getTime() + 10 * 60_000 + 1);
  await refused(mira.browser, link);
});

accountTest("role, plan and suspension are checked at the download", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const organizationId = await fill(database, mira, "Lunch ");
  const link = await linkOf(pages, { userId: mira.id, organizationId });
  const status = async () => {
    const response = await mira.browser.get(link);
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await status(), 200);
  const trial = "update identity.organizations set trial_ends_at = $2 where id = $1";
  await database.query(trial, [organizationId, "2026-01-01T00:00:00Z"]);
  assertEquals(await status(), 403, "the plan");
  await database.query(trial, [organizationId, "2027-01-01T00:00:00Z"]);
  assertEquals(await status(), 200);
  await database.query("update auth.users set banned_until = '2030-01-01' where id = $1", [mira.id]);
  assertEquals(await status(), 403, "suspended");
  await database.query("update auth.users set banned_until = null where id = $1", [mira.id]);
  await database.query("delete from identity.memberships where user_id = $1", [mira.id]);
  assertEquals(await status(), 403, "no member any more");
});
