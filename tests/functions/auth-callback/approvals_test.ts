/** The approval pages over a real database: rules and decisions, by different people. */
import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import type { Json } from "../../_support/books.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { accountTest, auditOf, joined, onboarded, type Person, runTool } from "./account_harness.ts";
import { formsOf, NOW, type Pages } from "./harness.ts";

interface House {
  organizationId: string;
  /** The owner. */
  anna: Person;
  /** A manager. */
  cleo: Person;
  /** A member, whose writes need approval. */
  ben: Person;
  /** Logs an expense as a person; returns the tool's envelope. */
  log(who: Person, item?: Record<string, unknown>): Promise<Json>;
  /** The same for an expense that must wait; returns the path of its page. */
  waiting(who: Person, item?: Record<string, unknown>): Promise<string>;
}

const RULE = { tool: "any", over: "200", records: "", role_member: "on", approver: "manager" };

async function house(pages: Pages, database: TestDatabase, rule: Record<string, string> | null = RULE): Promise<House> {
  const anna = await onboarded(pages, database, "anna@example.com", { organization_name: "Garden Street" });
  const { organizationId } = anna;
  const cleo = await joined(pages, database, { email: "cleo@example.com", organizationId, role: "manager" });
  const ben = await joined(pages, database, { email: "ben@example.com", organizationId, role: "member" });
  const policy = `/organizations/${organizationId}/approvals`;
  if (rule) {
    const page = await (await anna.browser.get(policy)).text();
    const response = await anna.browser.submit(page, 'value="add"', rule);
    assertEquals(response.headers.get("location"), `${policy}?done=added`);
  }
  const log: House["log"] = (who, item) =>
    runTool({ pages, database }, { ...who, organizationId }, "log_expenses", {
      items: [{ name: "Projector", amount: "450.00", date: "2026-11-19", ...item }],
    });
  return {
    organizationId,
    anna,
    cleo,
    ben,
    log,
    async waiting(who, item) {
      const { error } = await log(who, item);
      assertEquals(error?.code, "awaiting_approval");
      return `/account/approvals/${error.params.details.proposal_id}`;
    },
  };
}

const pageOf = async ({ browser }: Person, path: string) => await (await browser.get(path)).text();
const press = async ({ browser }: Person, path: string, decision: string, page?: string) =>
  await browser.submit(page ?? await (await browser.get(path)).text(), 'name="hash"', { decision });
const expenses = async (database: TestDatabase) =>
  (await database.query<{ name: string }>("select name from app.expenses where deleted_at is null order by name"))
    .map(({ name }) => name);

accountTest("a manager approves with one click, and opening the page changes nothing", async (pages, database) => {
  const { ben, cleo, waiting, organizationId } = await house(pages, database);
  const path = await waiting(ben);
  assertStringIncludes(await pageOf(cleo, "/account"), "One change is waiting for your approval");
  assertStringIncludes(await pageOf(cleo, `/organizations/${organizationId}/approvals`), "Projector</bdi> €450.00");
  assertFalse((await pageOf(ben, "/account")).includes("waiting for your approval"));
  const page = await pageOf(cleo, path);
  assertStringIncludes(page, "Projector");
  assertStringIncludes(page, "450.00");
  await pageOf(cleo, path);
  assertEquals(await expenses(database), []);
  const response = await press(cleo, path, "approve", page);
  assertEquals([response.status, response.headers.get("location")], [303, path]);
  assertEquals(await expenses(database), ["Projector"]);
  const approved = await pageOf(cleo, path);
  assertStringIncludes(approved, "Approved by");
  // The activity page undoes an approved change.
  const [, change] = /href="(\/account\/activity[^"]+change=chg_[^"]+)">it can be undone/.exec(approved)!;
  assertStringIncludes(await pageOf(cleo, change!.replaceAll("&amp;", "&")), "Undo this change");
  assert((await auditOf(database)).includes("approval.approved"));
  assertEquals(pages.mails.filter(({ subject }) => subject.startsWith("Approved")).map(({ to }) => to), [
    "ben@example.com",
  ]);
});

accountTest("opening a page changes no row of any table", async (pages, database) => {
  const { anna, ben, cleo, organizationId, log, waiting } = await house(pages, database);
  const { change_id: change } = await log(anna, { name: "Chair" });
  const [path, decided] = [await waiting(ben), await waiting(ben, { name: "Screen" })];
  await press(cleo, decided, "refuse");
  const tables = await database.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('app', 'billing', 'identity', 'jobs', 'oauth')`,
  );
  const dump = async () =>
    (await database.query<{ row: string }>(
      tables.map(({ name }) => `select '${name} ' || to_jsonb(t)::text as row from ${name} as t`).join(" union all "),
    )).map(({ row }) => row).toSorted();
  pages.provider.mails.length = 0;
  const dana = await onboarded(pages, database, "dana@example.com", { organization_name: "Elsewhere" });
  const before = await dump();
  const mails = pages.mails.length;
  for (
    const where of [
      ...[path, `${path}?news=changed`, `${path}?decision=approve`, decided],
      `/organizations/${organizationId}/approvals`,
      `/books?organization=${organizationId}`,
      `/books?organization=${organizationId}&paid=${change}&action=undo`,
      `/account/activity?organization=${organizationId}`,
      `/account/activity?organization=${organizationId}&change=${change}`,
    ]
  ) {
    for (const { browser } of [anna, ben, cleo, dana]) {
      const response = await browser.get(where);
      assert(response.status === (browser === dana.browser ? 404 : 200), `${where} ${response.status}`);
      await response.body?.cancel();
    }
  }
  assertEquals(await dump(), before);
  assertEquals(pages.mails.length, mails);
});

accountTest("a second click, from another window or person, changes nothing", async (pages, database) => {
  const { ben, cleo, anna, waiting } = await house(pages, database);
  const path = await waiting(ben);
  const [one, other] = [await pageOf(cleo, path), await pageOf(anna, path)];
  await press(cleo, path, "approve", one);
  for (const again of [await press(cleo, path, "approve", one), await press(anna, path, "refuse", other)]) {
    assertEquals(again.headers.get("location"), `${path}?news=already`);
  }
  assertStringIncludes(await pageOf(anna, `${path}?news=already`), "Somebody else had already decided");
  assertEquals(await expenses(database), ["Projector"]);
  assertEquals(pages.mails.filter(({ to }) => to === "ben@example.com").length, 1);
});

accountTest("two concurrent clicks decide once", async (pages, database) => {
  const { ben, cleo, anna, waiting } = await house(pages, database);
  const path = await waiting(ben);
  const [one, other] = [await pageOf(cleo, path), await pageOf(anna, path)];
  await Promise.all([press(cleo, path, "approve", one), press(anna, path, "approve", other)]);
  assertEquals(await expenses(database), ["Projector"]);
});

accountTest("a refused or withdrawn proposal changes nothing, and the page reports it", async (pages, database) => {
  const { ben, cleo, waiting } = await house(pages, database);
  const refused = await waiting(ben);
  await press(cleo, refused, "refuse");
  assertStringIncludes(await pageOf(ben, refused), "Rejected by");
  const withdrawn = await waiting(ben, { name: "Screen" });
  assertStringIncludes(await pageOf(ben, withdrawn), "You asked for this yourself");
  await press(ben, withdrawn, "withdraw");
  assertStringIncludes(await pageOf(cleo, withdrawn), "Withdrawn on");
  assertEquals(
    (await press(cleo, withdrawn, "approve", await formFor(cleo, withdrawn, "b"))).headers.get("location"),
    `${withdrawn}?news=already`,
  );
  assertEquals(await expenses(database), []);
  assertEquals(pages.mails.map(({ subject }) => subject).filter((subject) => /^(Rejected|Approved)/.test(subject)), [
    "Rejected: add 1 expense",
  ]);
});

/** A page with a form for a proposal, as its viewer sees it. */
async function formFor(who: Person, path: string, letter: string): Promise<string> {
  const token = formsOf(await pageOf(who, "/account")).map(({ fields }) => fields.form_token).find((value) => value);
  return `<form method="post" action="${path}"><input type="hidden" name="form_token" value="${token}" /><input type="hidden" name="hash" value="${
    letter.repeat(64)
  }" /></form>`;
}

accountTest(
  "a forwarded link shows others nothing, and their click changes nothing",
  async (pages, database) => {
    const { ben, anna, organizationId, waiting } = await house(pages, database);
    const path = await waiting(ben);
    pages.provider.mails.length = 0;
    const dana = await onboarded(pages, database, "dana@example.com", { organization_name: "Elsewhere" });
    const strange = await dana.browser.get(path);
    const nowhere = await dana.browser.get("/account/approvals/prop_0000000000000000");
    assertEquals([strange.status, nowhere.status], [404, 404]);
    const plain = async (response: Response) =>
      (await response.text()).replace(/<code>[^<]*<\/code>|nonce="[^"]*"|value="[^"]*"/g, "");
    assertEquals(await plain(strange), await plain(nowhere), "as if it were not there");
    const real = /name="hash" value="([0-9a-f]{64})"/.exec(await pageOf(anna, path))![1]!;
    const form = (await formFor(dana, path, "a")).replace("a".repeat(64), real);
    assertEquals((await press(dana, path, "approve", form)).status, 404);
    assertEquals((await dana.browser.get(`/organizations/${organizationId}/approvals`)).status, 404);
    // A form works only for the person who saw it.
    assertEquals((await press(dana, path, "approve", await pageOf(anna, path))).status, 403);
    // A visitor without a session signs in first and returns.
    const visitor = pages.browser();
    const login = await visitor.get(path);
    assertEquals(login.headers.get("location"), `/login?next=${encodeURIComponent(path)}`);
    assertEquals(await expenses(database), []);
  },
);

accountTest(
  "members and viewers can approve nobody's proposal",
  async (pages, database) => {
    const { ben, cleo, waiting, organizationId } = await house(pages, database);
    const path = await waiting(ben);
    const real = /name="hash" value="([0-9a-f]{64})"/.exec(await pageOf(cleo, path))![1]!;
    const forged = async (who: Person) => (await formFor(who, path, "a")).replace("a".repeat(64), real);
    assertEquals(
      (await press(ben, path, "approve", await forged(ben))).headers.get("location"),
      `${path}?news=not_allowed`,
    );
    assertStringIncludes(await pageOf(ben, `${path}?news=not_allowed`), "so nothing was done");
    for (const role of ["member", "viewer"]) {
      await database.query("update identity.memberships set role = $1 where user_id = $2", [role, cleo.id]);
      assertEquals((await cleo.browser.get(path)).status, 404);
      assertEquals((await press(cleo, path, "approve", await forged(cleo))).status, 404);
    }
    assertEquals(await expenses(database), []);
    const policy = await pageOf(ben, `/organizations/${organizationId}/approvals`);
    assertStringIncludes(policy, path);
    assertFalse(policy.includes("What needs approval</h2>"));
  },
);

accountTest("another hash, an unknown decision or a stale page does nothing", async (pages, database) => {
  const { ben, cleo, waiting } = await house(pages, database);
  const path = await waiting(ben);
  const response = await press(cleo, path, "approve", await formFor(cleo, path, "c"));
  assertEquals(response.headers.get("location"), `${path}?news=changed`);
  assertStringIncludes(await pageOf(cleo, `${path}?news=changed`), "isn’t the one your page showed");
  assertEquals((await press(cleo, path, "approve", await formFor(cleo, path, "Z"))).status, 400);
  assertEquals((await press(cleo, path, "delete")).status, 400);
  const page = await pageOf(cleo, path);
  pages.clock.now = new Date(NOW.getTime() + 7 * 86400_000);
  await press(
    cleo,
    path,
    "approve",
    page.replace(
      /name="form_token" value="[^"]*"/,
      /name="form_token" value="[^"]*"/.exec(await formFor(cleo, path, "a"))![0],
    ),
  );
  assertStringIncludes(await pageOf(cleo, path), "it has expired");
  assertEquals(await expenses(database), []);
});

accountTest("a proposal whose effects have changed is reported and not applied", async (pages, database) => {
  const { anna, ben, cleo, organizationId, log } = await house(pages, database);
  const { data } = await log(anna, { amount: "450.00" });
  const change = (who: Person, set: Record<string, string>) =>
    runTool({ pages, database }, { ...who, organizationId }, "update_expenses", { ids: [data.results[0].id], set });
  const { error } = await change(ben, { amount: "900.00" });
  const path = `/account/approvals/${error.params.details.proposal_id}`;
  const page = await pageOf(cleo, path);
  assertStringIncludes(page, "€900.00");
  assertEquals((await change(anna, { amount: "500.00" })).ok, true);
  await press(cleo, path, "approve", page);
  assertStringIncludes(await pageOf(cleo, path), "The books have changed since it was asked for");
  assertEquals(
    (await database.query<{ amount_minor: number }>("select amount_minor::int from app.payments"))[0]!.amount_minor,
    50000,
  );
});

accountTest("a proposal beyond its proposer's current role is reported and not applied", async (pages, database) => {
  const { ben, cleo, anna, organizationId, waiting } = await house(pages, database);
  await waiting(ben, { name: "Chair" });
  const path = await waiting(ben);
  await database.query("update identity.memberships set role = 'viewer' where user_id = $1", [ben.id]);
  assertEquals((await press(cleo, path, "approve")).headers.get("location"), path);
  const page = await pageOf(anna, path);
  assertStringIncludes(page, "This was approved, but could not be done.");
  assertStringIncludes(page, "The person who asked can no longer change the books here");
  assertEquals(await expenses(database), []);
  assertEquals(pages.mails.at(-1)?.subject, "Not done: add 1 expense");
  assertStringIncludes(await pageOf(anna, `/organizations/${organizationId}/approvals`), "Not done");
});

accountTest("a sole owner approves their own proposal on the page, which explains why", async (pages, database) => {
  const { anna, cleo, waiting } = await house(pages, database, { ...RULE, role_owner: "on" });
  const asked = await waiting(anna);
  assertStringIncludes(await pageOf(anna, asked), "You asked for this yourself");
  await database.query("delete from identity.memberships where user_id = $1 and role = 'manager'", [cleo.id]);
  assertStringIncludes(await pageOf(anna, asked), "nobody else here can");
  await press(anna, asked, "approve");
  assertEquals(await expenses(database), ["Projector"]);
});

accountTest(
  "the owner adds and removes rules, a manager reads them, and a double click adds one",
  async (pages, database) => {
    const { anna, cleo, organizationId, ben, log } = await house(pages, database, null);
    const path = `/organizations/${organizationId}/approvals`;
    const empty = await pageOf(anna, path);
    assertStringIncludes(empty, "Nothing needs approval.");
    assertStringIncludes(empty, 'value="200"');
    assertEquals((await log(ben)).ok, true);
    const rules = async () =>
      (await database.query<{ n: number }>("select count(*)::int as n from app.approval_rules"))[0]!.n;
    for (const _ of [1, 2]) assertEquals((await anna.browser.submit(empty, 'value="add"', RULE)).status, 303);
    assertEquals(await rules(), 1);
    const shown = await pageOf(cleo, path);
    assertStringIncludes(
      shown,
      "Any change by members, over €200.00 in 24 hours, needs approval from a manager or the owner.",
    );
    assertStringIncludes(shown, "Only the owner can change this.");
    assertEquals(formsOf(shown).filter(({ action }) => action === path), []);
    const forged = await cleo.browser.post(path, {
      form_token: formsOf(await pageOf(cleo, "/account")).map(({ fields }) => fields.form_token).find((value) =>
        value
      )!,
      action: "remove",
      rule: "[]",
    });
    assertEquals(forged.status, 403);

    for (
      const [fields, problem] of [
        [{ over: "two hundred" }, "Write an amount"],
        [{ over: "1,234.50" }, "Write an amount"],
        [{ records: "-1" }, "Write a whole number"],
        [{ tool: "get_context" }, "Choose what needs approval"],
      ] as const
    ) {
      const response = await anna.browser.submit(empty, 'value="add"', { ...RULE, ...fields });
      assertEquals(response.status, 400);
      assertStringIncludes(await response.text(), problem);
    }
    const full = await pageOf(anna, path);
    await anna.browser.submit(full, 'value="assistants"');
    assertStringIncludes(await pageOf(anna, path), "can also approve by telling their own assistant");
    for (const _ of [1, 2]) assertEquals((await anna.browser.submit(full, 'value="remove"')).status, 303);
    assertEquals(await rules(), 0);
    assertEquals((await auditOf(database)).filter((event) => event === "approval.policy_changed").length, 3);
  },
);

accountTest("no click decides while the organization is being deleted", async (pages, database) => {
  const { anna, cleo, ben, waiting } = await house(pages, database);
  const path = await waiting(ben);
  const shown = new Map<Person, string>();
  for (const who of [anna, cleo, ben]) shown.set(who, await pageOf(who, path));
  await database.query("update identity.organizations set deletes_at = '2026-12-04T10:00:00Z'");
  pages.mails.length = 0;
  for (const [who, decision] of [[anna, "approve"], [cleo, "refuse"], [ben, "withdraw"]] as const) {
    const response = await press(who, path, decision, shown.get(who)!);
    assertEquals(response.status, 403, decision);
    assertStringIncludes(await response.text(), "will be deleted on");
    assertFalse(formsOf(await pageOf(who, path)).some(({ html }) => html.includes('name="hash"')), decision);
  }
  assertEquals(await database.query("select state from app.proposals"), [{ state: "pending" }]);
  assertEquals(pages.mails, []);
});
