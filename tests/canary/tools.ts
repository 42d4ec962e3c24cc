/** Calls each tool as the first organization's member, with their own data and with the second's. */
import type { TestDatabase } from "../_support/database.ts";
import { TOOLS } from "../../functions/mcp/tools/mod.ts";
import { difference } from "./functions.ts";
import { dump, leaksIn, NOW, RESOURCE, type Tenant, type Tenants } from "./tenants.ts";

type Args = Record<string, unknown>;

/** Each tool's arguments for an organization. The first call of each tool must succeed with the caller's own data. */
const CALLS: Record<string, (one: Tenant) => Args[]> = {
  get_context: () => [
    {
      include: ["categories", "settings", "payees", "recent_changes", "provider_links", "members"],
      changes: { limit: 50 },
    },
    { changes: { client: "other" } },
    { changes: { record: "a" } },
  ],
  list_expenses:
    () => [{ from: "2026-01-01", to: "2026-12-31" }, { format: "csv", from: "2026-01-01" }, { query: "a" }, {
      kind: "income",
    }],
  summarize_spending: () => [{ from: "2026-01-01", to: "2026-12-31" }, { kind: "income" }, { kind: "net" }],
  show_spending_chart: () => [{}],
  list_bills: () => [{}, { status: "all" }],
  review_bills: () => [{}],
  forecast: () => [{}, { until: "2027-10-31" }],
  reconcile: (one) => [{ account: id(one, "acc", "a") }],
  log_expenses: () => [{
    items: [{ name: "Lunch", amount: "9.00" }, { name: "Savings", amount: "9.00", kind: "balance" }],
  }, {
    items: [{ name: "Salary", amount: "9.00", kind: "income" }],
  }],
  import_expenses: () => [{ csv: "Date,Name,Amount\n2026-11-10,Phone,15.00\n2026-11-11,Tea,3.00\n" }],
  update_expenses: (one) => [{ ids: [id(one, "exp", "e")], set: { note: "Mine" } }],
  add_bill: () => [{ name: "Phone", amount: "15.00", first_due: "2026-12-01" }],
  update_bill: (one) => [{ bill_id: id(one, "bill", "b"), set: { note: "Mine" } }],
  mark_bill_paid: (one) => [{ bill_id: id(one, "bill", "b"), due_on: "2026-11-22" }, { bill_name: "Phone" }],
  draft_cancellation: (one) => [{ bill_id: id(one, "bill", "b") }, { bill_name: "Phone", language: "de" }],
  list_documents: () => [{}, { query: "a" }],
  attach_document: (
    one,
  ) => [{ document_id: id(one, "doc", "a") }, { document_id: id(one, "doc", "a"), to: one.openBillId }],
  settle_up: () => [{ to: "owner", amount: "5.00" }],
  sync_bill_amounts: (one) => [{ bill_ids: [one.brokenBillId] }],
  delete_records: (one) => [{ ids: [id(one, "exp", "e")] }, { ids: [one.openBillId] }],
  undo_change: (one) => [{ change_id: id(one, "chg", "a") }],
  decide_proposal: (one) => [{ proposal_id: id(one, "prop", "a"), hash: "a", decision: "withdraw" }],
  update_settings: () => [{ category: { action: "create", name: "Hobby" } }, { reminders: { email_enabled: false } }],
};

const id = ({ organizationId }: Tenant, prefix: string, last: string) =>
  `${prefix}${organizationId.slice(3, -1)}${last}`;

/** The count of reads, which every read increases. */
const COUNTED = ["app.tool_reads", "oauth.rate_buckets"];

/**
 * Makes every call and reports leaks and changes of the second organization, and each tool that never worked.
 * @param access of the app; a read-only app changes nothing in its own organization either
 */
export async function checkTools(
  database: TestDatabase,
  tenants: Tenants,
  access: "read" | "write" = "write",
): Promise<string[]> {
  const names: string[] = TOOLS.map(({ listed }) => listed.name);
  const findings = [
    ...names.filter((name) => !(name in CALLS)).map((name) =>
      `the tool ${name} is not called: add to CALLS in tests/canary/tools.ts what to ask it`
    ),
    ...Object.keys(CALLS).filter((name) => !names.includes(name)).map((name) => `there is no tool ${name}`),
  ];
  await database.query("update oauth.grants set access = $1", [access]);
  const rows = async () => [
    ...await dump(database, tenants),
    ...(access === "read" ? await dump(database, { ids: [tenants.first.organizationId] }, COUNTED) : []),
  ];
  const before = await rows();
  for (const [name, callsOf] of Object.entries(CALLS)) {
    for (const one of [tenants.second, tenants.first]) {
      for (const [place, args] of callsOf(one).entries()) {
        const sent = JSON.stringify(args);
        // Like the connector: the contract parses the arguments first.
        const tool = TOOLS.find(({ listed }) => listed.name === name);
        const parsed = tool?.parse(args);
        if (!parsed?.ok) {
          findings.push(`${name} does not take ${sent}: ${JSON.stringify(parsed)}`);
          continue;
        }
        const { outcome, result } = await database.asService<{ outcome: string; result: Record<string, unknown> }>(
          "call_tool",
          { token_hash: tenants.first.accessHash, resource: RESOURCE, tool: name, arguments: parsed.value, at: NOW },
        );
        const what = `${name} ${sent} answers`;
        const isRefused = access === "read" && !tool!.listed.annotations.readOnlyHint;
        if (outcome !== (isRefused ? "insufficient_scope" : "ok")) findings.push(`${what} ${outcome}`);
        if (place === 0 && one === tenants.first && !isRefused && !result.ok) {
          findings.push(`${what} ${JSON.stringify(result)}`);
        }
        const leaks = leaksIn(JSON.stringify(result ?? null), tenants, sent);
        if (leaks.length > 0) findings.push(`${what} ${leaks.join(", ")}: ${JSON.stringify(result)}`);
      }
    }
  }
  return [...findings, ...difference(before, await rows())];
}
