/** Additions to an answer: URLs from configuration, and results that are fetched between two database calls. */
import { assertEquals } from "@std/assert";
import { ENVELOPE, ERAS, type Json, messageOf, SITE, startConnector } from "./harness.ts";

const { body: ask, headers } = ERAS["2025-11-25"]("tools/call");
const call = (name: string, args: Record<string, unknown>) => ({ ...ask, params: { name, arguments: args } });
const BILL = "bill_0123456789ab";

async function answerTo(name: string, args: Record<string, unknown>, result: Json): Promise<Json> {
  const { post } = startConnector({ call_tool: () => ({ outcome: "ok", result }) }, { pricingUrl: `${SITE}/pricing` });
  return (await messageOf(await post(call(name, args), { headers }))).result.structuredContent;
}

Deno.test("update_bill returns the connect URL whatever the arguments contain", async () => {
  const args = { bill_id: BILL, provider: { action: "connect", provider: "openai" } };
  const schedule = { frequency: "monthly", every: 1, anchor_on: "2026-10-05", month_days: [5] };
  const data = { bill: { id: BILL, category: "Utilities", schedule }, before: {} };
  const told = {
    bill: { id: BILL, category: "Utilities", schedule_text: "every month on the 5th" },
    before: {},
  };
  const connect = { bill: BILL, provider: "a&b" };
  assertEquals((await answerTo("update_bill", args, { ...ENVELOPE, data: { ...data, connect } })).data, {
    ...told,
    connect_url: `${SITE}/account/providers/connect?bill=${BILL}&provider=a%26b`,
  });
  assertEquals((await answerTo("update_bill", args, { ...ENVELOPE, data })).data, told);
});

Deno.test("a tool outside the plan returns the URL of the plan's page", async () => {
  const params = { organization: "Acme", details: { required_plan: "team" } };
  const error = { code: "feature_not_in_plan.providers", params };
  const answer = await answerTo("sync_bill_amounts", {}, { ok: false, error });
  assertEquals(answer.error.details, { required_plan: "team", upgrade_url: `${SITE}/pricing` });
});

Deno.test("answers about members, the plan or a file contain their page's URL", async () => {
  const of = async (tool: string, data: Json) => (await answerTo(tool, {}, { ...ENVELOPE, data })).data;
  const organization = `${SITE}/organizations/${ENVELOPE.context.organization.id}`;
  const context = { user: {}, role: "owner", plan: { name: "team" } };
  const whole = await of("get_context", { ...context, members: [] });
  assertEquals([whole.members_url, whole.plan_url], [`${organization}/members`, `${organization}/plan`]);
  assertEquals((await of("get_context", context)).members_url, undefined);
  assertEquals((await of("list_expenses", { csv: [] })).export_url, `${organization}/export`);
  assertEquals((await of("list_expenses", { rows: [] })).export_url, undefined);
});

Deno.test("sync_bill_amounts calls the providers between two database calls, and only when a link is due", async () => {
  const link = { link_id: "lnk_0123456789ab", period: "2026-10-01", lease_token: crypto.randomUUID() };
  const pending = [{ ...link, provider_key: "nobody" }];
  const bill = (status: string, code: string) => ({
    bill_id: BILL,
    status,
    said: { code, params: { name: "Power", provider: "Utility" } },
  });
  const first = { ...ENVELOPE, data: { bills: [bill("unchanged", "not_asked_yet")], pending } };
  const second = { ...ENVELOPE, data: { bills: [bill("failed", "failed")] } };
  const { post, calls } = startConnector({
    call_tool: ({ tool }) => ({ outcome: "ok", result: tool === "sync_bill_amounts" ? first : second }),
  });
  const { result } = await messageOf(await post(call("sync_bill_amounts", {}), { headers }));
  assertEquals(result.structuredContent.data.bills, [{
    bill_id: BILL,
    status: "failed",
    text: "The amount of Power could not be fetched from Utility. Try again in an hour.",
  }]);
  assertEquals(calls.map(({ name, args }) => args.tool ?? name), [
    "sync_bill_amounts",
    "read_provider_credentials",
    "store_bill_amounts",
  ]);
  assertEquals(calls[1]!.args, { link_ids: [link.link_id] });
  assertEquals(calls[2]!.args.arguments, {
    bills: first.data.bills,
    results: [{ ...link, answer: { outcome: "failed", code: "no_adapter" } }],
  });

  const idle = startConnector({
    call_tool: () => ({ outcome: "ok", result: { ...first, data: { bills: [], pending: [] } } }),
  });
  await idle.post(call("sync_bill_amounts", {}), { headers });
  assertEquals(idle.calls.length, 1);
});

Deno.test("clients cannot call the function that stores the results", async () => {
  const { post, calls } = startConnector();
  const message = await messageOf(await post(call("store_bill_amounts", { results: [] }), { headers }));
  assertEquals([typeof message.error?.message, calls.map(({ name }) => name)], ["string", ["authenticate_bearer"]]);
});
