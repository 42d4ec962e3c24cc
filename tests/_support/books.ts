/** Organizations whose tools a test calls as a person, directly in the database: no tokens, no HTTP. */
import { holdFacts } from "./answers.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type ChangeFacts, presentChange } from "../../shared/words/change.ts";
import { presentPage } from "../../functions/mcp/present/page.ts";
import type { FactEnvelope } from "../../shared/connector/result.ts";
import type { Role } from "../../shared/roles.ts";
import { wordsOf } from "../../shared/words/words.ts";
import type { TestDatabase } from "./database.ts";

// deno-lint-ignore no-explicit-any
export type Json = any;

export interface Books {
  organizationId: string;
  userId: string;
  /** Sets the date; later calls happen at noon UTC on it. */
  goTo(day: string): void;
  today(): string;
  /** Calls a tool and returns the whole envelope. */
  call(tool: string, args?: Record<string, unknown>): Promise<Json>;
  /** Calls a tool and returns the database's answer, before presentation. */
  facts(tool: string, args?: Record<string, unknown>): Promise<Json>;
  /** Calls a tool that must succeed and returns its data. */
  ok(tool: string, args?: Record<string, unknown>): Promise<Json>;
  /** Calls a tool that must fail with this code and returns the error. */
  fails(code: string, tool: string, args?: Record<string, unknown>): Promise<Json>;
  /** The same organization with another person's access, a member by default. */
  join(role?: Role): Promise<Books>;
  /** The same person with another client. */
  through(client: string): Books;
}

export interface BooksOptions {
  plan?: "free" | "pro" | "team";
  timezone?: string;
  baseCurrency?: string;
  day?: string;
  /** Time of day in UTC; noon by default, when the day's mails are already sent. */
  time?: string;
  /** Presents the database's answer, in English by default. */
  present?: (tool: string, facts: FactEnvelope, args: Record<string, unknown>) => Json;
}

/** A new person with their own organization. */
export async function openBooks(database: TestDatabase, options: BooksOptions = {}): Promise<Books> {
  const userId = await addPerson(database, options.timezone ?? "UTC");
  const [organization] = await database.query<{ id: string }>(
    "insert into identity.organizations (name, base_currency, plan, owner_id) values ('Household', $1, $2, $3) returning id",
    [options.baseCurrency ?? "EUR", options.plan ?? "team", userId],
  );
  await addMember(database, organization!.id, userId, "owner");
  await database.query("select app.create_default_categories($1, now())", [organization!.id]);
  const present = options.present ?? presentEnglish;
  return booksOf(database, {
    organizationId: organization!.id,
    userId,
    clock: { day: options.day ?? TODAY, time: options.time ?? "12:00" },
    present,
  });
}

/** Describes a change like list_recent_changes. */
export async function readChange(database: TestDatabase, id: string): Promise<{ tool: string; summary: string }> {
  const [change] = await database.query<ChangeFacts>("select tool, facts from app.change_sets where id = $1", [id]);
  const summary = presentChange(change!, wordsOf("en"));
  assertNothingMissing(summary);
  return { tool: change!.tool, summary };
}

/** Arguments that delete records, with the confirmation that the preview requires. */
export async function confirmed(books: Books, ids: string[]): Promise<Record<string, unknown>> {
  const { data } = await books.call("delete_records", { ids, dry_run: true });
  return { ids, ...(data?.confirm && { confirm: data.confirm }) };
}

/** The output of a template with a missing fact. */
const MISSING = /\b(undefined|null|NaN|Invalid Date)\b|\[object/;

/** Checks that every text of an answer has all its facts. */
export function assertNothingMissing(answer: Json): void {
  if (typeof answer === "string") assert(!MISSING.test(answer), `a fact is missing: ${answer}`);
  else if (typeof answer === "object") { for (const value of Object.values(answer ?? {})) assertNothingMissing(value); }
}

/** Adds units of a currency per euro on a day; idempotent. */
export async function addRate(database: TestDatabase, quote: string, day: string, rate: string): Promise<void> {
  await database.query(
    "insert into app.fx_rates (quote, rate_on, source, rate) values ($1, $2, 'ecb', $3::text::numeric) on conflict do nothing",
    [quote, day, rate],
  );
}

/** Marks a day as settled with the rates before it. */
export async function settleDay(database: TestDatabase, day: string): Promise<void> {
  await database.query("insert into app.fx_days (day, attempts, settled_at) values ($1, 1, $1::date)", [day]);
}

const TODAY = "2026-11-20";
const presentEnglish = (tool: string, facts: FactEnvelope) => presentPage(tool, facts, wordsOf("en"));

interface OpenedBooks {
  organizationId: string;
  userId: string;
  clock: { day: string; time: string };
  client?: string;
  present: NonNullable<BooksOptions["present"]>;
}

function booksOf(database: TestDatabase, opened: OpenedBooks): Books {
  const { organizationId, userId, clock, client = "Tests", present } = opened;
  const facts: Books["facts"] = (tool, args = {}) =>
    database.asRole(
      "authenticated",
      { sub: userId, organization_id: organizationId, client_name: client },
      async (session) => {
        const [row] = await session.query<{ result: Json }>("select app.run_tool($1, $2::text::jsonb, $3) as result", [
          tool,
          JSON.stringify(args),
          `${clock.day}T${clock.time}:00Z`,
        ]);
        if (row!.result) holdFacts(tool, row!.result);
        return row!.result;
      },
    );
  const call: Books["call"] = async (tool, args = {}) => {
    const said = await facts(tool, args);
    if (!said) return null;
    const answer = present(tool, said, args);
    assertNothingMissing(answer);
    return answer;
  };
  return {
    organizationId,
    userId,
    facts,
    call,
    goTo: (day) => void (clock.day = day),
    today: () => clock.day,
    async ok(tool, args) {
      const result = await call(tool, args);
      assertEquals(result.ok, true, JSON.stringify(result.error));
      return result.data;
    },
    async fails(code, tool, args) {
      const result = await call(tool, args);
      assertEquals(result.error?.code, code, JSON.stringify(result));
      // People hear this text, so it must be a full sentence without internals.
      assertMatch(result.error.message, /^["\p{Lu}0-9].*\.$/u);
      return result.error;
    },
    async join(role = "member") {
      const member = await addPerson(database, "UTC");
      await addMember(database, organizationId, member, role);
      return booksOf(database, { ...opened, userId: member });
    },
    through: (other) => booksOf(database, { ...opened, client: other }),
  };
}

export async function addPerson(database: TestDatabase, timezone: string): Promise<string> {
  const id = crypto.randomUUID();
  await database.query("insert into auth.users (id, email) values ($1, $2)", [id, `${id}@example.com`]);
  await database.query("insert into identity.profiles (user_id, email, country, timezone) values ($1, $2, 'DE', $3)", [
    id,
    `${id}@example.com`,
    timezone,
  ]);
  return id;
}

export async function addMember(
  database: TestDatabase,
  organizationId: string,
  userId: string,
  role: string,
): Promise<void> {
  await database.query("insert into identity.memberships (organization_id, user_id, role) values ($1, $2, $3)", [
    organizationId,
    userId,
    role,
  ]);
}
