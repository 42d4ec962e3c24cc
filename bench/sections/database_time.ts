/**
 * Time inside a warm database of the connector's calls, for two organizations: one with 2,000 payments and 50 bills,
 * one with a million and 5,000. Every round also measures indexed statements, which show the machine's speed.
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { postgresDatabase } from "../../local/database/postgres.ts";
import type { SqlDatabase } from "../../local/database/sql.ts";
import { TOOLS } from "../../functions/mcp/tools/mod.ts";
import { type Cluster, startCluster } from "../../tests/_support/cluster.ts";
import { openDatabase } from "../../tests/_support/database.ts";
import { importOf } from "../../tests/_support/import_args.ts";
import { DURABLE } from "../hops/world.ts";
import { buildLargeOrganization, LARGE } from "../large_organization_reads.ts";
import { alternate, ratiosOf } from "../measure/rounds.ts";
import type { Options, Row } from "../measure/row.ts";
import { type Call, openServerTime, type ServerTime } from "../measure/server_time.ts";
import { median, spreadOf } from "../measure/stats.ts";

const TODAY = new Date().toISOString().slice(0, 10);
const AT = `${TODAY}T12:00:00Z`;
const RESOURCE = "https://expenses.example/api/mcp";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const TOKEN_HASH = sha256("the token of the benchmark");
/** Statements that find a row by its key, in a number that the clock can resolve. They measure the machine's speed. */
const INDEXED = 500;
const LOOK_UP = `
  create table public.to_look_up as select id from app.payments order by md5(id) limit ${INDEXED};
  create function public.look_up() returns int language plpgsql security definer as $$
  declare
    one text;
    looked_up int := 0;
  begin
    for one in select id from public.to_look_up loop
      perform from app.payments where id = one;
      looked_up := looked_up + 1;
    end loop;
    return looked_up;
  end $$`;
const GRANT = "00000000-0000-4000-8000-0000000000aa";

/** The latest 50,000 payments as an account's statement lines, with today's balance. */
const STATEMENT = `
  insert into app.accounts (id, organization_id, name, key, currency)
  values ('acc_benchmark00000', '${LARGE.organizationId}', 'Giro', 'giro', 'EUR');
  insert into app.balances (organization_id, account_id, true_on, amount_minor, currency, source, created_by)
  values ('${LARGE.organizationId}', 'acc_benchmark00000', '${TODAY}', 500000, 'EUR', 'statement', '${LARGE.userId}');
  insert into app.statement_lines (id, organization_id, account_id, booked_on, text, kind, direction, amount_minor, currency)
  select 'lin_' || substr(p.id, 5), p.organization_id, 'acc_benchmark00000', p.paid_on,
    translate(e.name, '0123456789', 'abcdefghij') || ' ' || p.id, 'expense', p.direction, p.amount_minor, 'EUR'
  from (
    select * from app.payments where organization_id = '${LARGE.organizationId}' order by paid_on desc limit 50000
  ) as p
  join app.expenses as e on e.id = p.expense_id;
  insert into app.statement_links (line_id, payment_id, organization_id)
  select id, 'pay_' || substr(id, 5), organization_id from app.statement_lines;`;

/**
 * Of the latest 50,000 expenses, every tenth belongs to a payee that charges about monthly, the others to 3,000 shops.
 * The benchmark calls find_recurring() as the person, without the other parts of review_bills.
 */
const RECURRING = `
  create table public.latest as
  select p.id, p.expense_id, p.paid_on, row_number() over (order by p.paid_on, p.id) as n
  from app.payments as p
  where p.organization_id = '${LARGE.organizationId}' and p.occurrence_id is null
  order by p.paid_on desc, p.id desc
  limit 50000;
  create table public.size as
  select greatest(1, round(3.0 * count(*) / (max(paid_on) - min(paid_on)))::int) * 10 as payees from public.latest;
  update app.expenses as e
  set payee = case when l.n % 10 = 0 then 'Club ' else 'Shop ' end
    || translate((case when l.n % 10 = 0 then l.n % s.payees else l.n * 7919 % 3000 end)::text, '0123456789', 'abcdefghij')
  from public.latest as l cross join public.size as s
  where e.id = l.expense_id;
  alter table app.payments disable trigger user;
  update app.payments as p set amount_minor = 500 + l.n % s.payees, base_minor = 500 + l.n % s.payees
  from public.latest as l cross join public.size as s
  where p.id = l.id and l.n % 10 = 0;
  alter table app.payments enable trigger user;
  vacuum analyze app.expenses, app.payments;
  create function public.find_recurring(at timestamptz) returns jsonb language plpgsql as $$
  declare
    found jsonb;
  begin
    perform set_config('request.jwt.claims', '${
  JSON.stringify({ sub: LARGE.userId, role: "authenticated", organization_id: LARGE.organizationId })
}', true);
    perform set_config('role', 'authenticated', true);
    select to_jsonb(count(*)) into found from app.find_recurring_charges(app.read_context(at), '-infinity');
    return found;
  end $$;
  grant execute on function public.find_recurring to service_role;`;
const recurring: Call = { name: "find_recurring", args: { at: AT }, isExpected: (count) => Number(count) > 0 };

/** One call of a tool, with the arguments that the connector passes. */
function toolCall(name: string, args: Record<string, unknown>): Call {
  const parsed = TOOLS.find(({ listed }) => listed.name === name)!.parse(args, new Date(AT));
  if (!parsed.ok) throw new Error(`${name}: ${parsed.error.code}`);
  return rawToolCall(name, parsed.value);
}

const callArgs = (tool: string, args: Record<string, unknown>) => ({
  token_hash: TOKEN_HASH,
  resource: RESOURCE,
  tool,
  arguments: args,
  at: AT,
});
const isOk = (result: unknown) => (result as { result?: { ok?: boolean } }).result?.ok === true;

const rawToolCall = (tool: string, args: Record<string, unknown>): Call => ({
  name: "call_tool",
  args: callArgs(tool, args),
  isExpected: isOk,
});

const monthBefore = (months: number) => {
  const day = new Date(`${TODAY.slice(0, 7)}-01T00:00:00Z`);
  day.setUTCMonth(day.getUTCMonth() - months);
  return day.toISOString().slice(0, 10);
};
const lastOfMonthBefore = () =>
  new Date(Date.parse(`${monthBefore(0)}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10);
const MONTH = { from: monthBefore(1), to: lastOfMonthBefore() };

const IMPORTED = importOf(Array.from({ length: 2000 }, (_, line) => ({
  line: line + 2,
  name: `Row ${line}`,
  amount: `${1 + line % 90}.50`,
  date: MONTH.from.slice(0, 8) + `${10 + line % 10}`,
})));

interface Answer {
  result: { data: { preview: { commit_with: Record<string, unknown> } } };
}
const commit: Call = {
  ...rawToolCall("import_expenses", {}),
  async before(call) {
    const { result } = await call("call_tool", callArgs("import_expenses", IMPORTED)) as Answer;
    return callArgs("import_expenses", result.data.preview.commit_with);
  },
};
const undo: Call = {
  ...rawToolCall("undo_change", {}),
  async before(call) {
    await call("call_tool", await commit.before!(call));
    return callArgs("undo_change", {});
  },
};

const SMALL: Record<string, Call> = {
  "sql: token check": {
    name: "authenticate_bearer",
    args: { token_hash: TOKEN_HASH, resource: RESOURCE, at: AT },
    isExpected: (result) => (result as { outcome: string }).outcome === "ok",
  },
  "sql: get_context": toolCall("get_context", {}),
  "sql: list_expenses, 10": toolCall("list_expenses", { limit: 10 }),
  "sql: log_expenses, 1": toolCall("log_expenses", { items: [{ name: "Lunch", amount: "14.50" }] }),
  "sql: list_bills": toolCall("list_bills", {}),
  "sql: month summary": toolCall("summarize_spending", { period: "last_month" }),
  "sql: page of the books": {
    name: "read_books",
    args: {
      user_id: LARGE.userId,
      organization_id: LARGE.organizationId,
      ...{ month_on: null, searched: null, cursor: null, paid: null, at: AT },
    },
    isExpected: (result) => (result as { outcome: string }).outcome === "found",
  },
  "sql: review_bills": toolCall("review_bills", {}),
  "sql: forecast": toolCall("forecast", {}),
  "sql: recurring charges": recurring,
};
const BULK: Record<string, Call> = {
  "sql: 2,000 rows committed": commit,
  "sql: 2,000 rows undone": undo,
};
const LARGE_READS: Record<string, Call> = {
  "large: list_expenses of a month": toolCall("list_expenses", MONTH),
  "large: list_expenses": toolCall("list_expenses", {}),
  "large: month summary": toolCall("summarize_spending", { period: "last_month" }),
  "large: 12 months": toolCall("summarize_spending", { period: "last_12_months" }),
  "large: list_bills": toolCall("list_bills", {}),
};
/** These read every statement line of several months, so their goal is for an organization of this size. */
const YEARS_OF_STATEMENTS: Record<string, Call> = {
  "50,000 payments: forecast": toolCall("forecast", {}),
  "50,000 payments: recurring charges": recurring,
  "50,000 payments: review_bills": toolCall("review_bills", {}),
};
const REDEMPTIONS = ["redemption of a person with 2,000 grants", "redemption through a client with 2,000 grants"];
export const NAMES = [
  ...Object.keys(SMALL),
  ...Object.keys(BULK),
  ...Object.keys(LARGE_READS),
  ...Object.keys(YEARS_OF_STATEMENTS),
  ...REDEMPTIONS,
];

export async function measureDatabase({ isShort, only }: Options): Promise<Row[]> {
  const rounds = isShort ? 3 : 25;
  const chosen = <Value>(calls: Record<string, Value>) =>
    Object.fromEntries(Object.entries(calls).filter(([name]) => name.includes(only)));
  const small = { ...chosen(SMALL) };
  const cluster = await startCluster({ settings: DURABLE, libraries: ["pg_stat_statements"] });
  const rows: Row[] = [];
  try {
    const bulk = chosen(BULK);
    const redemptions = REDEMPTIONS.some((name) => name.includes(only));
    if ([small, bulk].some((calls) => Object.keys(calls).length > 0) || redemptions) {
      await withOrganization(cluster, { payments: 2000, bills: 50, months: 24 }, async (time, admin) => {
        rows.push(...await measureCalls(time, small, rounds));
        rows.push(...await measureCalls(time, bulk, Math.ceil(rounds / 3)));
        if (redemptions) rows.push(...await measureRedemptions(time, admin, { rounds, count: 30 }));
      });
    }
    const large = chosen(LARGE_READS);
    if (Object.keys(large).length > 0) {
      const size = isShort ? { payments: 200_000, bills: 2000 } : { payments: 1_000_000, bills: 5000 };
      await withOrganization(cluster, size, async (time) => {
        rows.push(...await measureCalls(time, large, rounds));
      });
    }
    const years = chosen(YEARS_OF_STATEMENTS);
    if (Object.keys(years).length > 0) {
      await withOrganization(cluster, { payments: 50_000, bills: 250 }, async (time) => {
        rows.push(...await measureCalls(time, years, Math.ceil(rounds / 3)));
      });
    }
    return rows.filter(({ name }) => name.includes(only));
  } finally {
    await cluster.stop();
  }
}

async function withOrganization(
  cluster: Cluster,
  size: { payments: number; bills: number; months?: number },
  work: (time: ServerTime, admin: SqlDatabase) => Promise<void>,
): Promise<void> {
  const database = await openDatabase(cluster.urlOf("postgres", "supabase_exposed"));
  const [row] = await database.query<{ name: string }>("select current_database() as name");
  const admin = postgresDatabase(cluster.urlOf("supabase_admin", row!.name), { max: 1 });
  await buildLargeOrganization(admin, { ...size, today: TODAY });
  await admin.exec(`
    insert into oauth.clients (client_id, client_name, redirect_uris, created_at, granted_at)
    values ('client_benchmark0000000000000', 'Benchmark', '{http://127.0.0.1:9/callback}', '${AT}', '${AT}');
    insert into oauth.grants (id, client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at, last_used_at)
    values ('${GRANT}', 'client_benchmark0000000000000', '${LARGE.userId}', '${LARGE.organizationId}', 'http://127.0.0.1:9/callback',
      '${RESOURCE}', '${AT}', timestamptz '${AT}' + interval '90 days', '${AT}');
    insert into oauth.tokens (token_hash, kind, grant_id, issued_at, expires_at)
    values ('\\x${TOKEN_HASH}', 'access', '${GRANT}', '${AT}', timestamptz '${AT}' + interval '1 hour');
    ${STATEMENT}
    ${LOOK_UP}`);
  // VACUUM can't run inside a transaction.
  for (const statement of RECURRING.split(/(?<=;)\n(?= +(?:vacuum|create function) )/)) await admin.exec(statement);
  const time = await openServerTime(cluster.urlOf("authenticator", row!.name), admin);
  try {
    await work(time, admin);
  } finally {
    await time.close();
    await admin.close();
    await database.close();
  }
}

/** The duration of a block, within the minimum and maximum number of calls. */
const BLOCK_MS = 300;
const CALLS = { fewest: 3, most: 30 };

/** Milliseconds of each call, and the ratio to one indexed statement. */
async function measureCalls(time: ServerTime, calls: Record<string, Call>, rounds: number): Promise<Row[]> {
  if (Object.keys(calls).length === 0) return [];
  const blocks: Record<string, () => Promise<number>> = {};
  for (const [name, call] of Object.entries(calls)) {
    // A new session plans its first calls again.
    await time.ofCall(call, CALLS.fewest);
    const fitting = Math.round(BLOCK_MS / await time.ofCall(call, CALLS.fewest));
    const count = Math.max(CALLS.fewest, Math.min(CALLS.most, fitting));
    blocks[name] = () => time.ofCall(call, count);
  }
  const indexed = async () =>
    await time.ofStatement("select look_up as result from public.look_up()", [], 100) / INDEXED;
  for (const block of [indexed, ...Object.values(blocks)]) await block();
  const measured: Record<string, number[]> = await alternate({ ...blocks, indexed }, rounds);
  const one = `one indexed statement (${(median(measured.indexed!) * 1000).toFixed(2)} µs)`;
  return Object.keys(calls).map((name) => {
    const onMachine = ratiosOf(measured[name]!, measured.indexed!);
    return {
      name,
      value: spreadOf(measured[name]!),
      unit: "ms",
      onMachine,
      detail: `${onMachine.median.toFixed(0)} times ${one}`,
      errors: 0,
    };
  });
}

/** Redemptions by a person, and through a client, with 2,000 grants and with a single one. */
async function measureRedemptions(
  time: ServerTime,
  admin: SqlDatabase,
  { rounds, count }: { rounds: number; count: number },
): Promise<Row[]> {
  await admin.exec(await Deno.readTextFile(new URL("../hops/many_grants.sql", import.meta.url)));
  const redemption = (person: number, client: string): Call => ({
    name: "redeem_authorization_code",
    args: () => ({
      code_id: crypto.randomUUID(),
      code_expires_at: `${TODAY}T23:59:00Z`,
      client_id: client,
      redirect_uri: "http://127.0.0.1:9/callback",
      user_id: `00000000-0000-4000-8000-${`${person}`.padStart(12, "0")}`,
      organization_id: `org_g${`${person}`.padStart(11, "0")}`,
      resource: RESOURCE,
      access_token_hash: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex"),
      refresh_token_hash: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex"),
      at: AT,
    }),
    isExpected: (result) => (result as { outcome: string }).outcome === "redeemed",
  });
  const sides = {
    single: () => time.ofCall(redemption(2, "client_with_one"), count),
    person: () => time.ofCall(redemption(1, "client_with_one"), count),
    client: () => time.ofCall(redemption(2, "client_with_many"), count),
  };
  for (const side of Object.values(sides)) await side();
  const measured = await alternate(sides, rounds);
  const row = (name: string, of: number[]): Row => ({
    name,
    against: "one grant",
    value: spreadOf(of.map((ms, round) => ms / measured.single[round]!)),
    unit: "times",
    detail: `${median(of).toFixed(2)} ms; with one grant ${median(measured.single).toFixed(2)} ms`,
    errors: 0,
  });
  return [row(REDEMPTIONS[0]!, measured.person), row(REDEMPTIONS[1]!, measured.client)];
}
