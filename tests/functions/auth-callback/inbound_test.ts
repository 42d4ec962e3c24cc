/** The page of an organization's mail: its address, waiting mail and decisions. */
import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { formsOf } from "./harness.ts";
import { accountTest, auditOf, onboarded } from "./account_harness.ts";

const textOf = (html: string) => html.replace(/<(style|title|script)\b.*?<\/\1>|<[^>]+>/gs, " ").replace(/\s+/g, " ");

accountTest(
  "an owner creates and replaces the address, and decides about waiting mail, with forms alone",
  async (pages, database) => {
    const anna = await onboarded(pages, database, "anna@example.com");
    const path = `/organizations/${anna.organizationId}/mail`;
    assertStringIncludes(await (await anna.browser.get("/account")).text(), `href="${path}"`);
    const read = async () => await (await anna.browser.get(path)).text();
    const press = async (action: string, target = "") => {
      const form = formsOf(await read()).find(({ html, fields }) =>
        html.includes(`value="${action}"`) && (fields.target ?? "") === target
      );
      assert(form, `${action} ${target}`);
      const body = new URLSearchParams(Object.entries(form!.fields) as [string, string][]);
      return (await anna.browser.send(form!.action, body)).headers.get("location");
    };
    assertStringIncludes(textOf(await read()), "Create an address to forward invoices and receipts to.");
    assertEquals(await press("rotate"), `${path}?done=rotate`);
    const addressIn = (html: string) => /data-copy="(in\+[0-9a-f]{20}@in\.expenses\.example)"/.exec(html)![1]!;
    const first = addressIn(await read());
    await press("rotate");
    const second = addressIn(await read());
    assertFalse(first === second);

    await database.query(
      `insert into app.inbound_mails (id, organization_id, provider_id, state, sender, subject, verdicts, is_proven, size, content, leased_until, received_at)
       select 'mail_00000000000' || n, $1, n, 'waiting', case n when 1 then 'anna@example.com' else 'a@power.example' end,
         '<b>Invoice</b>', '{"dkim": "fail"}', false, 2000, 'x', $2, $2 from generate_series(1, 3) as n`,
      [anna.organizationId, pages.clock.now.toISOString()],
    );
    const shown = textOf(await read());
    for (
      const said of ["&lt;b&gt;Invoice", "We couldn’t verify that this member sent it", "Checks: DKIM fail", "2 kB"]
    ) {
      assertStringIncludes(shown, said);
    }
    assertEquals(await press("accept", "mail_000000000002"), `${path}?done=accept`);
    assertStringIncludes(textOf(await read()), "Accepted by anna@example.com");
    assertEquals(await press("forget", "a@power.example"), `${path}?done=forget`);
    assertEquals(await press("block", "mail_000000000001"), `${path}?done=block`);
    assertStringIncludes(textOf(await read()), "No mail is waiting.");
    await database.query("update app.inbound_mails set state = 'failed', sender = '', refusals = '{not_fetched}'");
    assertStringIncludes(textOf(await read()), "An email couldn’t be fetched");
    const events = (await auditOf(database)).filter((event) => event.startsWith("inbound."));
    assertEquals(events, ["inbound.rotate", "inbound.rotate", "inbound.accept", "inbound.forget", "inbound.block"]);

    const ben = await onboarded(pages, database, "ben@example.com");
    assertEquals((await ben.browser.get(path)).status, 404);
  },
);
