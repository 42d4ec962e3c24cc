/**
 * A member of one organization, with a valid token, calls every tool with ids, names, cursors and keys of another
 * organization. No call returns or changes that organization's data.
 */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { TOOLS } from "../../functions/mcp/tools/mod.ts";
import { type JsonSchema, PATTERNS } from "../../shared/connector/schema.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";
import { type Json, type Member, newMember } from "./connector_harness.ts";

const RUNS = 60;

/** In fields that the attacker never sends: payee, note, tags, client and organization. */
const SECRET = "Zq7Secret";

/** Names that the attacker has learned and sends. */
const KNOWN_NAMES = ["Villa rent", "Caviar", "Yacht mooring"];
const KNOWN_KEY = "victim-key-1";

const VICTIM_CALLS: [tool: string, args: Record<string, unknown>][] = [
  ["log_expenses", {
    idempotency_key: KNOWN_KEY,
    create_missing_categories: true,
    items: [
      { name: "Caviar", amount: "912.34", payee: SECRET, note: SECRET, tags: [SECRET], category: `${SECRET} food` },
      { name: "Caviar", amount: "15.00", date: "yesterday", currency: "USD", note: SECRET },
      { name: "Returned caviar", amount: "11.00", is_refund: true, payee: SECRET },
    ],
  }],
  ["add_bill", { name: "Villa rent", amount: "8123.45", month_days: [1], payee: SECRET, note: SECRET }],
  ["add_bill", {
    name: "Yacht mooring",
    amount: "77.10",
    first_due: "2026-10-08",
    frequency: "weekly",
    tags: [SECRET],
  }],
  ["mark_bill_paid", { bill_name: "Villa rent", advance: true, note: SECRET }],
  ["import_expenses", { csv: `Date,Name,Amount,Note\n2026-10-01,Caviar,99.00,${SECRET}\n` }],
  ["log_expenses", { items: [{ name: "Mistake", amount: "1.00", payee: SECRET }] }],
  ["undo_change", {}],
];

Deno.test("members of another organization cannot reach an organization", async () => {
  await using database = await openDatabase();
  const attacker = await newMember(database, { email: "attacker@example.com", organization: "Attacker" });
  const victim = await newMember(database, { email: "victim@example.com", organization: `${SECRET} org` });
  for (const [tool, args] of VICTIM_CALLS) await victim.ok(tool, args);
  // The victim also has an invoice, which an assistant can't upload.
  await database.query(
    `insert into app.documents (organization_id, added_by, hash, name, type, size, facts)
     values ($1, $2, md5('a') || md5('b'), $3, 'application/xml', 1, jsonb_build_object('payee', $3::text))`,
    [victim.organizationId, victim.userId, `${SECRET} invoice.xml`],
  );
  // The victim also has a pending proposal.
  await database.query(
    "insert into app.approval_rules (organization_id, tool, roles, approver) values ($1, 'delete_records', '{owner}', 'owner')",
    [victim.organizationId],
  );
  const { envelope: { data } } = await victim.call("list_expenses");
  const { envelope: waiting } = await victim.call("delete_records", {
    ids: [data.rows.find(({ id }: Json) => id.startsWith("exp_")).id],
  });
  assertEquals(waiting.error.code, "awaiting_approval");
  const own = await attacker.call("log_expenses", { items: [{ name: "Own lunch", amount: "9.00" }] });

  const victimData = await collect(victim, await dump(database, victim.organizationId));
  const before = await dump(database, victim.organizationId);
  const people = [victim.email, victim.userId, victim.organizationId];
  const attack = async (tool: string, args: Record<string, unknown>, secrets = [SECRET]) => {
    const { text, envelope } = await attacker.call(tool, args);
    const sent = JSON.stringify(args);
    const leaked = [...secrets, ...people, ...victimData.ids, ...victimData.cursors]
      .filter((piece) => text.includes(piece) && !sent.includes(piece));
    assertEquals(leaked, [], `${tool} ${sent} answered ${text}`);
    if (envelope.error?.code === "internal") throw new Error(`${tool} ${sent} failed`);
  };

  // In addition to the victim's ids, the attacker's own id and a nonexistent one of each kind.
  const arsenal = {
    ...victimData,
    ids: [
      ...victimData.ids,
      ...idsIn(own.text),
      "exp_000000000000",
      "bill_000000000000",
      "chg_000000000000",
      "imp_000000000000",
      "doc_000000000000",
      "inc_000000000000",
      "prop_000000000000",
    ],
  };
  for (const { listed } of TOOLS) {
    await fc.assert(
      fc.asyncProperty(argumentsOf(listed.inputSchema, arsenal), (args) => attack(listed.name, args as Json)),
      { numRuns: RUNS },
    );
  }
  // The victim's own calls, verbatim, because a key must work only for its owner. They come last, because the
  // attacker knows the secret from then on.
  for (const [tool, args] of VICTIM_CALLS) await attack(tool, args, []);
  assertEquals(await dump(database, victim.organizationId), before);
});

interface VictimData {
  ids: string[];
  cursors: string[];
}

/** All data of the victim that the attacker could send: ids from its rows, cursors from its answers. */
async function collect(victim: Member, rows: string[]): Promise<VictimData> {
  const cursors = await Promise.all(["list_expenses", "list_bills"].map(async (tool) => {
    const { envelope } = await victim.call(tool, { limit: 1 });
    return envelope.next_cursor as string | undefined;
  }));
  return { ids: idsIn(rows.join("\n")), cursors: cursors.filter((cursor) => cursor !== undefined) };
}

const idsIn = (
  text: string,
) => [...new Set(text.match(/\b(exp|bill|occ|pay|chg|cat|org|lnk|imp|prop|set|doc|inc|acc)_[0-9a-z]{8,32}\b/g))];

/** Every row that belongs to an organization, table by table. */
async function dump(database: TestDatabase, organizationId: string): Promise<string[]> {
  const tables = await database.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where column_name = 'organization_id' and table_type = 'BASE TABLE' order by 1`,
  );
  assertEquals(tables.length > 5, true);
  const rows = tables.map(({ name }) =>
    `select '${name} ' || to_jsonb(t)::text as row from ${name} as t where organization_id = $1`
  );
  const all = await database.query<{ row: string }>(rows.join(" union all "), [organizationId]);
  return all.map(({ row }) => row).toSorted();
}

/** Arguments that fit a schema, using the collected data wherever it fits. */
function argumentsOf(schema: JsonSchema, victimData: VictimData, field = ""): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case "object":
      if (!schema.properties) return fc.constantFrom({}, { EUR: "99.00" });
      return fc.record(
        mapValues(schema.properties!, (property, name) => argumentsOf(property, victimData, name)),
        { requiredKeys: schema.required ?? [] },
      );
    case "array": {
      const item = argumentsOf(schema.items!, victimData, field);
      const size = { minLength: Number(schema.minItems ?? 0), maxLength: Math.min(Number(schema.maxItems ?? 3), 3) };
      return schema.uniqueItems ? fc.uniqueArray(item, size) : fc.array(item, size);
    }
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number":
      return fc.integer({ min: Number(schema.minimum ?? 1), max: Math.min(Number(schema.maximum ?? 5), 5) });
    default:
      return stringsOf(schema, victimData, field);
  }
}

function stringsOf(
  { pattern, maxLength }: JsonSchema,
  { ids, cursors }: VictimData,
  field: string,
): fc.Arbitrary<string> {
  if (pattern === PATTERNS.date) return fc.constantFrom("today", "yesterday", "2026-10-01", "2026-10-08");
  if (pattern === PATTERNS.amount) return fc.constantFrom("1.00", "15.00", "8123.45");
  if (pattern === PATTERNS.currency) return fc.constantFrom("EUR", "USD");
  if (pattern === PATTERNS.monthWeekday) return fc.constantFrom("2TU", "-1FR");
  if (pattern === PATTERNS.notice) return fc.constantFrom("3 months to quarter", "14 days");
  if (pattern === PATTERNS.url) return fc.constantFrom("https://shop.example/orders/1", "");
  if (pattern) {
    return fc.constantFrom(...[...ids, "2026-10", "none"].filter((value) => new RegExp(String(pattern)).test(value)));
  }
  if (field === "csv") return fc.constantFrom("Date,Name,Amount\n2026-10-01,Caviar,99.00", ...KNOWN_NAMES);
  if (field === "id") return fc.constantFrom(...ids);
  if (field === "cursor") return fc.constantFrom(...cursors);
  if (field === "idempotency_key") return fc.constantFrom(KNOWN_KEY, "attacker-key");
  return fc.constantFrom(...KNOWN_NAMES.filter((name) => name.length <= Number(maxLength ?? 100)));
}

function mapValues<Value, Result>(
  record: Record<string, Value>,
  map: (value: Value, key: string) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}
