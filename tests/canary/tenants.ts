/**
 * Two organizations with a row in every table, from the same fixture. The second one's rows contain a canary: a word
 * in every text and an amount in all money where the constraints allow it. The catalog shows who owns a row, so new
 * tables and columns are included automatically.
 */
import { createHash } from "node:crypto";
import type { Session, SqlDatabase } from "../../local/database/sql.ts";
import { calendarToken } from "../../shared/calendar/token.ts";
import { hashToken } from "../../shared/oauth/tokens.ts";
import { splitStatements } from "../_support/tap.ts";

export const WORD = "Zq7Canary";
/** A million times all other amounts. */
const AMOUNT_MINOR = 8_484_848_484;
/** The paid part; it differs from the rest, so their difference is not zero. */
const PAID_MINOR = AMOUNT_MINOR / 2;
const LARGEST_OWN_AMOUNT = 1_000_000;
export const NOW = "2026-11-20T10:00:00Z";
export const RESOURCE = "https://example.com/api/mcp";

/** Tables whose rows belong to no organization or person: everybody sees the same rows, or nobody sees any. */
const UNOWNED_TABLES = [
  "app.category_keywords",
  "app.currencies",
  "app.fx_days",
  "app.fx_rates",
  "app.retention",
  "billing.billing_plans",
  "billing.plan_features",
  "billing.settings",
  "identity.role_rights",
  "identity.attempts",
  "jobs.job_runs",
  "jobs.reminder_batches",
  "oauth.client_documents",
  "oauth.clients",
  "oauth.rate_buckets",
  "oauth.ungranted_counts",
];

/** Columns that can't contain a word although no constraint forbids it, with the reason. */
const NO_WORDS: Record<string, string> = {
  "identity.profiles.timezone": "the database reads it as the name of a place, and fails at any other",
  "app.expense_occurrences.currency": "digests join it to the table of currencies, and would be empty",
};

export interface Tenant {
  organizationId: string;
  ownerId: string;
  ownerEmail: string;
  memberId: string;
  memberEmail: string;
  /** The people whom the pages remove. */
  viewerId: string;
  billId: string;
  /** Variable bills: one without a connection, and one whose provider rejects the credential. */
  openBillId: string;
  brokenBillId: string;
  linkId: string;
  brokenLinkId: string;
  /** Imports of the member: one that waits for its file, and one whose file is being read. */
  waitingImportId: string;
  importId: string;
  documentId: string;
  mailId: string;
  /** The token in the address for incoming mail. */
  inboundToken: string;
  proposalId: string;
  grantId: string;
  clientId: string;
  consentId: string;
  digestId: string;
  subscriptionId: string;
  /** The address of the member's calendar. */
  calendarToken: string;
  calendarHash: string;
  /** An open invitation, the token in its link, and a hand-over that waits for the viewer's confirmation. */
  invitationId: string;
  invitationToken: string;
  invitationHash: string;
  handoverId: string;
  /** SHA-256 in hex of an access and a refresh token, valid at `NOW`. */
  accessHash: string;
  refreshHash: string;
}

export interface Tenants {
  first: Tenant;
  second: Tenant;
  /** `schema.table.column` of every column that contains the word or the amount. */
  words: string[];
  amounts: string[];
  /** Ids of the second organization, which can't contain a word; they count as canaries too. */
  ids: string[];
}

const FIXTURE = await Deno.readTextFile(new URL("../db/fixtures/access.sql", import.meta.url));
const MORE = await Deno.readTextFile(new URL("tenant.sql", import.meta.url));

const calendarOf = (letter: string) => {
  const token = calendarToken(letter.repeat(43));
  return { calendarToken: token, calendarHash: hashToken(token) };
};
const invitationOf = (letter: string) => {
  const token = `exp_inv_${letter.repeat(43)}`;
  return { invitationToken: token, invitationHash: hashToken(token) };
};
const invitations = { first: invitationOf("A"), second: invitationOf("B") };
const calendars = { first: calendarOf("A"), second: calendarOf("B") };

const tenant = (digit: string, suffix: string, name: string): Tenant => {
  const id = (prefix: string, last: string) => `${prefix}_0000000000${suffix}${last}`;
  const uuid = (last: string) => `00000000-0000-4000-${digit}000-00000000000${last}`;
  return {
    organizationId: id("org", "a"),
    ownerId: uuid("a"),
    ownerEmail: `owner@${name}.example`,
    memberId: uuid("b"),
    memberEmail: `member@${name}.example`,
    viewerId: uuid("e"),
    billId: id("bill", "a"),
    openBillId: id("bill", "c"),
    brokenBillId: id("bill", "d"),
    linkId: id("lnk", "a"),
    brokenLinkId: id("lnk", "d"),
    waitingImportId: id("imp", "c"),
    importId: id("imp", "d"),
    documentId: id("doc", "a"),
    mailId: id("mail", "a"),
    inboundToken: createHash("md5").update(id("org", "a")).digest("hex").slice(0, 20),
    proposalId: id("prop", "a"),
    grantId: uuid("1"),
    clientId: `client_${name}`,
    consentId: uuid("2"),
    digestId: uuid("4"),
    subscriptionId: `sub_${name}`,
    ...calendars[name as keyof typeof calendars],
    ...invitations[name as keyof typeof invitations],
    invitationId: id("inv", "a"),
    handoverId: uuid("6"),
    accessHash: name === "first" ? "aa".repeat(32) : "bb".repeat(32),
    refreshHash: name === "first" ? "cc".repeat(32) : "dd".repeat(32),
  };
};

/** The fixture for one of them: the same rows under other ids. Rows without an owner occur once. */
const rowsOf = (own: Tenant, name: string) =>
  splitStatements(FIXTURE + MORE)
    .map((statement) =>
      statement
        .replaceAll("00000000-0000-4000-8000-", own.ownerId.slice(0, -12))
        .replaceAll("_00000000000", own.organizationId.slice(3, -1))
        .replaceAll("@example.com", `@${name}.example`)
        .replaceAll(/\b(client|plan|sub)_access\b/g, `$1_${name}`)
        .replaceAll("sha256('a')", `sha256('${name}')`)
        .replaceAll("'calendar-hash'", `'\\x${own.calendarHash}'`)
        .replaceAll("'invitation-hash'", `'\\x${own.invitationHash}'`)
        .replaceAll("'access-hash'", `'\\x${own.accessHash}'`)
        .replaceAll("'refresh-hash'", `'\\x${own.refreshHash}'`)
        .replace("payment_events (body_hash,", "payment_events (event_id, body_hash,")
        .replace("values ('a', 'subscription.activated'", `values ('${name}', '${name}', 'subscription.activated'`)
    )
    .map((statement) => statement.startsWith("insert") ? `${statement} on conflict do nothing` : statement)
    .join(";\n");

/** Fills an empty database with both. */
export async function openTenants(database: SqlDatabase): Promise<Tenants> {
  const [first, second] = [tenant("8", "0", "first"), tenant("9", "1", "second")];
  await database.exec(rowsOf(first, "first"));
  await database.exec(rowsOf(second, "second"));
  const catalog = await readCatalog(database);
  const planted = await plant(database, { catalog, owners: idsOf(second) });
  const rows = (await ownRows(database, { catalog, owners: idsOf(second) })).join("\n");
  const ids = [
    ...new Set(rows.match(/\b(?:[a-z]{3,4}_[0-9a-z]{12,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g)),
  ];
  return { first, second, ...planted, ids };
}

/** Compiling the many conditions on who owns a row takes PostgreSQL a minute; evaluating them takes milliseconds. */
const queryOwned = <Row extends object>(database: SqlDatabase, sql: string, owners: string[]): Promise<Row[]> =>
  database.transaction(async (session) => {
    await session.exec("set local jit = off");
    return await session.query<Row>(sql, [owners]);
  });

async function ownRows(
  database: SqlDatabase,
  { catalog, owners }: { catalog: Table[]; owners: string[] },
): Promise<string[]> {
  const each = catalog.filter(({ name }) => !UNOWNED_TABLES.includes(name))
    .map(({ name, isOwned }) => `select to_jsonb(t)::text as row from ${name} as t where ${isOwned}`);
  return (await queryOwned<{ row: string }>(database, each.join(" union all "), owners)).map(({ row }) => row);
}

const idsOf = (own: Tenant) => [own.organizationId, own.ownerId, own.memberId];

interface Table {
  name: string;
  /** A condition for the row `t`: it belongs to one of the ids in `$1`. */
  isOwned: string;
  columns: { name: string; type: string }[];
}

async function readCatalog(session: Session): Promise<Table[]> {
  const columns = await session.query<{ table: string; column: string; type: string; generated: boolean }>(
    `select c.oid::regclass::text as table, a.attname as column, format_type(a.atttypid, null) as type,
       a.attgenerated <> '' or a.attidentity <> '' as generated
     from pg_class as c join pg_attribute as a on a.attrelid = c.oid
     where c.relnamespace in (${SCHEMAS}) and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
     order by 1, a.attnum`,
  );
  const links = await session.query<{ child: string; parent: string; pairs: string[][] }>(
    `select k.conrelid::regclass::text as child, k.confrelid::regclass::text as parent, (
       select json_agg(json_build_array(quote_ident(a.attname), quote_ident(b.attname)))
       from unnest(k.conkey, k.confkey) as u (a, b)
       join pg_attribute as a on a.attrelid = k.conrelid and a.attnum = u.a
       join pg_attribute as b on b.attrelid = k.confrelid and b.attnum = u.b
     ) as pairs
     from pg_constraint as k where k.contype = 'f' and k.connamespace in (${SCHEMAS}) and k.conrelid <> k.confrelid`,
  );
  const isOwned = (table: string, row: string, above: string[]): string => {
    const direct = `exists (select from jsonb_each_text(to_jsonb(${row})) as v where v.value = any ($1))`;
    const parents = links.filter(({ child, parent }) =>
      child === table && !above.includes(parent) && !parent.startsWith("auth.") && !UNOWNED_TABLES.includes(parent)
    );
    return [
      direct,
      ...parents.map(({ parent, pairs }) => {
        const other = `${row}p`;
        const same = pairs.map(([own, key]) => `${other}.${key} = ${row}.${own}`).join(" and ");
        return `exists (select from ${parent} as ${other} where ${same} and (${
          isOwned(parent, other, [...above, parent])
        }))`;
      }),
    ].join(" or ");
  };
  return [...Map.groupBy(columns, ({ table }) => table)].map(([name, ofTable]) => ({
    name,
    isOwned: UNOWNED_TABLES.includes(name) ? "false" : `(${isOwned(name, "t", [name])})`,
    columns: ofTable.filter(({ generated }) => !generated).map(({ column, type }) => ({ name: column, type })),
  }));
}

const SCHEMAS = "select oid from pg_namespace where nspname in ('identity', 'oauth', 'billing', 'app', 'jobs')";

/** Candidate values for a column, longest first. The database decides which it accepts. */
const WORDS: Record<string, string[]> = {
  "text": [
    `regexp_replace(coalesce(t.%, ''), '^.*@', '${WORD}@') || case when t.% like '%%@%%' then '' else '${WORD}' end`,
    `'${WORD}'`,
    `'${WORD.toLowerCase()}'`,
    `'https://${WORD.toLowerCase()}.example'`,
  ],
  "jsonb": [
    `case jsonb_typeof(t.%) when 'object' then t.% || '{"canary": "${WORD}"}' when 'array' then t.% || '["${WORD}"]' else '"${WORD}"' end`,
    `'{"canary": "${WORD}"}'`,
    `'[{"canary": "${WORD}"}]'`,
  ],
  "text[]": [`array_append(t.%, '${WORD}')`, `'{${WORD}}'`],
};

interface Place {
  place: string;
}

async function plant(
  database: SqlDatabase,
  { catalog, owners }: { catalog: Table[]; owners: string[] },
): Promise<Pick<Tenants, "words" | "amounts">> {
  const planted = { words: [] as string[], amounts: [] as string[] };
  const without: string[] = [];
  for (const { name: table, isOwned, columns } of catalog) {
    if (UNOWNED_TABLES.includes(table)) continue;
    const sql = `select t.ctid::text as place from ${table} as t where ${isOwned}`;
    const found = await queryOwned<Place>(database, sql, owners);
    if (found.length === 0) without.push(table);
    let places = found.map(({ place }) => place);
    const tryAll = async (column: string, values: string[]): Promise<boolean> => {
      for (const value of values) {
        const set = value.replaceAll("%%", "\0").replaceAll("%", `"${column}"`).replaceAll("\0", "%");
        const update = (some: string[]) =>
          database.query<Place & { carries: boolean }>(
            `update ${table} as t set "${column}" = case when t."${column}"::text = any ($2) then t."${column}" else ${set} end
             where t.ctid = any ($1::text[]::tid[])
             returning t.ctid::text as place, t."${column}"::text ~* '${WORD}|${AMOUNT_MINOR}|${PAID_MINOR}' as carries`,
            [some, owners],
          );
        // Updates row by row if one row rejects the value for all.
        const done = await update(places).catch(async () => {
          const each = [];
          for (const place of places) each.push(...await update([place]).catch(() => [{ place, carries: false }]));
          return each;
        });
        if (done.length > 0) places = done.map(({ place }) => place);
        if (done.some(({ carries }) => carries)) return true;
      }
      return false;
    };
    for (const { name, type } of columns) {
      const column = `${table}.${name}`;
      if (column in NO_WORDS) continue;
      if (WORDS[type] && await tryAll(name, WORDS[type])) planted.words.push(column);
      if (
        name.endsWith("_minor") && await tryAll(name, [String(name.startsWith("paid") ? PAID_MINOR : AMOUNT_MINOR)])
      ) planted.amounts.push(column);
    }
  }
  if (without.length > 0) {
    throw new Error(
      `The second organization has no row in ${
        without.join(", ")
      }: give it one in tests/db/fixtures/access.sql or in ` +
        `tests/canary/tenant.sql, or name the table in UNOWNED_TABLES when its rows belong to no organization and no person.`,
    );
  }
  return planted;
}

/**
 * Every row that belongs to the second organization or refers to it, as text.
 * @param ignored `schema.table`: tables that may change
 */
export async function dump(
  session: Session,
  { ids }: Pick<Tenants, "ids">,
  ignored: readonly string[] = [],
): Promise<string[]> {
  const tables = (await catalogOf(session)).filter(({ name }) => !ignored.includes(name));
  const rows = await session.query<{ row: string }>(
    tables.map(({ name }) => `select '${name} ' || to_jsonb(t)::text as row from ${name} as t`).join(" union all "),
  );
  return rows.map(({ row }) => row).filter((row) => ids.some((id) => row.includes(id))).toSorted();
}

let known: Promise<Table[]> | undefined;
const catalogOf = (session: Session) => known ??= readCatalog(session);

/** The second organization's data in an answer. @param sent the caller's input, which the answer may echo */
export function leaksIn(text: string, { ids }: Pick<Tenants, "ids">, sent = ""): string[] {
  const amounts = text.match(/\b\d[\d,]*\.\d{2}\b/g) ?? [];
  return [
    ...(text.toLowerCase().includes(WORD.toLowerCase()) ? [WORD] : []),
    ...[AMOUNT_MINOR, PAID_MINOR].map(String).filter((amount) => text.includes(amount)),
    // Also detects it as part of a sum.
    ...amounts.filter((amount) => Number(amount.replaceAll(",", "")) > LARGEST_OWN_AMOUNT),
    ...ids.filter((id) => text.includes(id) && !sent.includes(id)),
  ];
}
