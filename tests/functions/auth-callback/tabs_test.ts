/**
 * The tabs of an organization's pages link only to the reader's pages, and the switcher to their other organizations.
 */
import { addMember } from "../../_support/books.ts";
import { assertEquals } from "@std/assert";
import { ublInvoice } from "../../fixtures/ubl_invoice.ts";
import { accountTest, connectApp, onboarded, runTool } from "./account_harness.ts";
import { linkFor, send, uploadTest } from "./upload_harness.ts";

/** The targets of the tabs, the open one, and the organizations in the switcher. */
function topOf(html: string) {
  const [nav = ""] = /<nav class="column tabs".*?<\/nav>/s.exec(html) ?? [];
  const [switcher = ""] = /<details class="switch".*?<\/details>/s.exec(html) ?? [];
  const linksIn = (part: string) => [...part.matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href!);
  return {
    tabs: linksIn(nav),
    open: /<a href="([^"]+)" aria-current="page"/.exec(nav)?.[1],
    switcher: linksIn(switcher),
    chosen: /<a href="([^"]+)" aria-current="true"/.exec(switcher)?.[1],
  };
}

accountTest(
  "an owner's tabs link to every page, and the switcher to the same page of another organization",
  async (pages, database) => {
    const { browser } = await onboarded(pages, database, "anna@example.com", { organization_name: "Home" });
    const form = await (await browser.get("/organizations/new")).text();
    await browser.submit(form, 'name="name"', { name: "Shop", currency: "EUR" });
    const rows = await database.query<{ id: string; name: string }>("select id, name from identity.organizations");
    const [home, shop] = ["Home", "Shop"].map((name) => rows.find((row) => row.name === name)!.id) as [string, string];
    const pathsOf = (id: string) => [
      ...[`/books?organization=${id}`, `/organizations/${id}/members`, `/account/activity?organization=${id}`],
      ...["approvals", "export", "plan"].map((page) => `/organizations/${id}/${page}`),
    ];
    for (const path of pathsOf(home)) {
      const html = await (await browser.get(path)).text();
      const { tabs, open, switcher, chosen } = topOf(html);
      assertEquals([tabs, open], [pathsOf(home), path]);
      const place = Math.min(pathsOf(home).indexOf(path), 3) % 3;
      assertEquals(switcher, [pathsOf(home)[place]!, pathsOf(shop)[place]!, "/organizations/new"], path);
      assertEquals(chosen, switcher[0]);
      assertEquals(html.includes(`href="/account?organization=${home}"`), true, path);
    }
    const account = topOf(await (await browser.get(`/account?organization=${shop}`)).text());
    assertEquals([account.tabs, account.open, account.chosen], [pathsOf(shop), undefined, pathsOf(shop)[0]]);
    assertEquals(topOf(await (await browser.get("/account?organization=org_other")).text()).tabs, pathsOf(home));
  },
);

accountTest(
  "a viewer's tabs omit approvals, and nobody sees a plan tab when plans are off",
  async (pages, database) => {
    const { organizationId: id } = await onboarded(pages, database, "anna@example.com", { organization_name: "Home" });
    const vera = await onboarded(pages, database, "vera@example.com", { organization_name: "Own" });
    await addMember(database, id, vera.id, "viewer");
    const names = async () =>
      topOf(await (await vera.browser.get(`/organizations/${id}/members`)).text()).tabs.map((path) =>
        /(\w+)(\?|$)/.exec(path.replace(/\?.*/, ""))![1]
      );
    assertEquals(await names(), ["books", "members", "activity", "export", "plan"]);
    await database.query("update billing.settings set plans_enabled = false");
    assertEquals(await names(), ["books", "members", "activity", "export"]);
    await database.query("update billing.settings set plans_enabled = true");
  },
);

uploadTest("pages below the tabs show them too, with the tab above them open", async (test) => {
  const { pages, database, mira: { browser, organizationId } } = test;
  const ben = await onboarded(pages, database, "ben@example.com");
  await addMember(database, organizationId, ben.id, "member");
  const { data: { bill } } = await runTool(test, test.mira, "add_bill", {
    ...{ name: "Power", amount_mode: "variable", frequency: "monthly", first_due: "2026-12-01" },
  });
  const connect = `/account/providers/connect?bill=${bill.id}`;
  const links = await database.query<{ id: string }>(
    `insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status)
     values ($1, $2, 'digitalocean', 'Team …4f2a', 'active') returning id`,
    [organizationId, bill.id],
  );
  const grant = await connectApp(database, { userId: test.mira.id, name: "Claude" });
  const upload = await linkFor(test, test.mira);
  const { tabs, open: books } = topOf(await (await browser.get("/books")).text());
  assertEquals(tabs.length, 6);
  const members = `/organizations/${organizationId}/members`;
  const paths: [path: string, open?: string][] = [
    [`/organizations/${organizationId}/delete`],
    [`${members}/remove?member=${ben.id}`, members],
    [connect],
    [`${connect}&provider=digitalocean`],
    [connect.replace("connect?", "connected?")],
    [`/account/providers/remove?link=${links[0]!.id}`],
    [`/account/access?grant=${grant}`],
    [`/account/disconnect?grant=${grant}`],
    [upload, books],
  ];
  for (const [path, above] of paths) {
    const { tabs: shown, open } = topOf(await (await browser.get(path)).text());
    assertEquals([shown, open], [tabs, above], path);
  }
  const taken = await (await send(browser, upload, new File([ublInvoice()], "power.xml", { type: "text/xml" }))).text();
  assertEquals(topOf(taken).tabs, tabs);
  const document = /href="(\/account\/documents\/doc_[0-9a-z]+)"/.exec(taken)![1]!;
  const below = topOf(await (await browser.get(document)).text());
  assertEquals([below.tabs, below.open], [tabs, books]);
});
