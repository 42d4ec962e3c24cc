/** The page of the DATEV accounts, and the batch in the accountant's folder. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { TestDatabase } from "../../_support/database.ts";
import { unzip } from "../../_support/unzip.ts";
import { accountTest, onboarded } from "./account_harness.ts";
import { download } from "./export_harness.ts";
import { formsOf, NOW } from "./harness.ts";

const ACCOUNTS = {
  ...{ consultant: "29098", client: "55003", chart: "03", year_starts: "1" },
  ...{ paid_from: "1200", tax_19: "9", account_none: "" },
};

async function booksOf(database: TestDatabase, userId: string) {
  const [{ id } = { id: "" }] = await database.query<{ id: string }>(
    "select id from identity.organizations where owner_id = $1",
    [userId],
  );
  return { id, path: `/organizations/${id}/export/datev` };
}

async function addCategory(database: TestDatabase, organizationId: string, name: string, isPrivate = false) {
  const [{ id } = { id: "" }] = await database.query<{ id: string }>(
    "insert into app.categories (organization_id, name, is_private) values ($1, $2, $3) returning id",
    [organizationId, name, isPrivate],
  );
  return id;
}

async function addPayment(database: TestDatabase, organizationId: string, [name, category]: [string, string | null]) {
  await database.query(
    `with e as (
       insert into app.expenses (id, organization_id, kind, name, category_id)
       values (app.new_id('exp'), $1, 'one_off', $2, $3) returning id
     )
     insert into app.payments (organization_id, expense_id, amount_minor, currency, paid_on, tax_minor, category_id)
     select $1, e.id, 11900, 'EUR', '2026-10-15', 1900, $3 from e`,
    [organizationId, name, category],
  );
}

const stored = async (database: TestDatabase, id: string) =>
  (await database.query<{ datev: unknown }>("select datev from identity.organizations where id = $1", [id]))[0]!.datev;

const plain = (html: string) => html.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");

accountTest("accounts are saved once, used by the folder, and undone like other settings", async (pages, database) => {
  const { id: userId, browser } = await onboarded(pages, database);
  const { id, path } = await booksOf(database, userId);
  const office = await addCategory(database, id, "Büro");
  const travel = await addCategory(database, id, "Travel & more");
  await addPayment(database, id, ["Printer", office]);
  await addPayment(database, id, ["Train", travel]);
  const october = { from: "2026-10-01", to: "2026-10-31", as: "folder", open_months: "yes" };
  const exportPath = `/organizations/${id}/export`;
  const folder = async () =>
    unzip(new Uint8Array(await (await download(browser, exportPath, "payments", october)).arrayBuffer()));
  assert(![...(await folder()).keys()].some((name) => name.startsWith("datev/")), "nobody has set the accounts");
  const page = await (await browser.get(path)).text();
  const fields = { ...ACCOUNTS, [`account_${office}`]: "4930" };
  const saved = await browser.submit(page, "consultant", fields);
  assertEquals([saved.status, saved.headers.get("location")], [303, `${path}?done=saved`]);
  const again = await browser.submit(page, "consultant", fields);
  assertEquals(again.status, 303);
  assertEquals(await stored(database, id), {
    ...{ consultant: 29098, client: 55003, chart: "03", year_starts: 1, paid_from: "1200" },
    ...{ tax_keys: { 19: "9" }, accounts: { [office]: "4930" } },
  });
  const changes = await database.query<{ id: string; facts: unknown }>(
    "select id, facts from app.change_sets where organization_id = $1 and tool = 'update_settings'",
    [id],
  );
  assertEquals(changes.map(({ facts }) => facts), [{ changed: { datev: true } }], "saving twice is one change");
  const shown = plain(await (await browser.get(`${path}?done=saved`)).text());
  assertStringIncludes(shown, "The accounts are saved.");
  const missing = "Travel &amp; more, Utilities, Uncategorized";
  assertMatch(
    shown,
    new RegExp(`Categories without an account: .*${missing}. Their payments are left out of the batch`),
  );
  assertMatch(
    plain(await (await browser.get(exportPath)).text()),
    new RegExp(`Categories without an account: .*${missing}`),
  );
  const files = await folder();
  const batch = files.get("datev/EXTF_Buchungsstapel_2026-10.csv")!.split("\r\n");
  assertMatch(batch[0]!, /^"EXTF";700;21;"Buchungsstapel";13;\d{17};.*;29098;55003;20260101;4;20261001;20261031;/);
  assertEquals(batch.length, 4);
  assertMatch(batch[2]!, /^119,00;"S";"EUR";;;;4930;1200;"0009";1510;"exp-\w+";;;"Printer";/);
  assertStringIncludes(files.get("datev/README.txt")!, "Categories without an account: Travel & more (1).");
  const activity = plain(await (await browser.get(`/account/activity?organization=${id}`)).text());
  assertStringIncludes(activity, "DATEV accounts");
  const [effects] = await database.query<{ told: { effects: { fields: unknown }[] } }>(
    "select app.read_effects($1, 10) as told",
    [changes[0]!.id],
  );
  assertEquals(effects!.told.effects.map(({ fields }) => fields), [[{
    field: "datev",
    after: {
      ...{ consultant: 29098, client: 55003, chart: "03", year_starts: 1, paid_from: "1200" },
      ...{ tax_keys: { 19: "9" }, accounts: { Büro: "4930" } },
    },
  }]]);
  const undone = await database.query<{ run: { result: { ok: boolean } } }>(
    "select public.run_page_tool($1, $2, 'undo_change', jsonb_build_object('change_id', $3::text), $4) as run",
    [userId, id, changes[0]!.id, NOW.toISOString()],
  );
  assertEquals([undone[0]!.run.result.ok, await stored(database, id)], [true, null]);
});

accountTest("a form with problems keeps its input, names each field and saves nothing", async (pages, database) => {
  const { id: userId, browser } = await onboarded(pages, database);
  const { id, path } = await booksOf(database, userId);
  const food = await addCategory(database, id, "Kiosk");
  const page = await (await browser.get(path)).text();
  const wrong = {
    ...ACCOUNTS,
    consultant: "1000",
    client: "0",
    paid_from: "12",
    tax_19: "x",
    [`account_${food}`]: "1;2",
  };
  const refused = await browser.submit(page, "consultant", { ...wrong, year_starts: "13", clearing: "<b>" });
  const html = await refused.text();
  assertEquals(refused.status, 400);
  for (const name of ["consultant", "client", "paid_from", "tax_19", "year_starts", "clearing", `account_${food}`]) {
    assertStringIncludes(html, `id="${name}-error"`);
  }
  assertStringIncludes(html, 'value="1;2"');
  assertStringIncludes(html, 'value="&lt;b&gt;"');
  assertEquals(await stored(database, id), null);
});

accountTest(
  "only the owner and managers set the accounts, viewers read them, and members and strangers see nothing",
  async (pages, database) => {
    const mira = await onboarded(pages, database);
    const { id, path } = await booksOf(database, mira.id);
    const secret = await addCategory(database, id, "Therapy", true);
    const page = await (await mira.browser.get(path)).text();
    await (await mira.browser.submit(page, "consultant", { ...ACCOUNTS, [`account_${secret}`]: "4900" })).body
      ?.cancel();
    const eva = await onboarded(pages, database, "eva@example.com");
    const own = await booksOf(database, eva.id);
    const { fields } = formsOf(await (await eva.browser.get(own.path)).text()).find(({ html }) =>
      html.includes("consultant")
    )!;
    const tries = async () => {
      const shown = await eva.browser.get(path);
      const posted = await eva.browser.post(path, { ...fields, ...ACCOUNTS, client: "7" });
      await posted.body?.cancel();
      return { statuses: [shown.status, posted.status], html: await shown.text() };
    };
    const client = async () => (await stored(database, id) as { client: number }).client;
    assertEquals((await tries()).statuses, [404, 404], "a stranger");
    await database.query(
      "insert into identity.memberships (organization_id, user_id, role) values ($1, $2, 'member')",
      [
        id,
        eva.id,
      ],
    );
    assertEquals((await tries()).statuses, [403, 403], "a member");
    await database.query(
      "update identity.memberships set role = 'viewer' where user_id = $1 and organization_id = $2",
      [
        eva.id,
        id,
      ],
    );
    const viewer = await tries();
    assertEquals([viewer.statuses, await client()], [[200, 403], 55003], "a viewer");
    assertStringIncludes(viewer.html, "29098");
    assert(!viewer.html.includes("Therapy") && !viewer.html.includes("4900"), "private categories stay hidden");
    const exportPath = `/organizations/${id}/export`;
    const archive = await download(eva.browser, exportPath, "everything");
    const [settings] = unzip(new Uint8Array(await archive.arrayBuffer())).get("settings.jsonl")!.split("\n");
    assertEquals(JSON.parse(settings!).datev.accounts, {});
    await database.query(
      "update identity.memberships set role = 'manager' where user_id = $1 and organization_id = $2",
      [
        eva.id,
        id,
      ],
    );
    assertEquals([(await tries()).statuses, await client()], [[200, 303], 7], "a manager");
    const { accounts } = await stored(database, id) as { accounts: Record<string, string> };
    assertEquals(accounts, { [secret]: "4900" }, "an account that the form does not have stays");
  },
);
