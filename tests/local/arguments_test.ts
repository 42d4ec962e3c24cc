/**
 * Correction 4 of `@supabase/lite`: an argument of any type reaches a function as from PostgREST, or is refused in the
 * same way. `deno task test:pg` runs the same test on a server.
 */
import { assertEquals, assertNotEquals } from "@std/assert";
import { createPostgresConnection } from "@supabase/lite/postgres";
import { openDatabase } from "../../local/data_service/connection.ts";
import { createLiteApp } from "../../local/lite/app.ts";
import { correctConnection } from "../../local/lite/corrections.ts";
import { createDatabase } from "../../shared/db/client.ts";
import { createExportStore } from "../../shared/db/export_store.ts";
import { SETTINGS } from "../_support/database.ts";
import { callRpc, type Lite, openLite } from "../_support/lite.ts";
import { newDatabase } from "../_support/new_database.ts";

const SERVER = Deno.env.get("TEST_DATABASE_URL");

const JSON_VALUES = [
  "exp_1",
  "5",
  "null",
  "true",
  '"',
  "",
  '{"a": 1}',
  "[1]",
  "\u{1F600} ö \\ ' \n",
  5,
  -1.5,
  0,
  true,
  false,
  null,
  [],
  ["a", 1, null, [true]],
  {},
  { a: { b: [null, "c"] } },
];

/** Values of each type that a function of schema public accepts, and neighboring types. */
const VALUES: Record<string, unknown[]> = {
  "json": JSON_VALUES,
  "jsonb": JSON_VALUES,
  "text": JSON_VALUES,
  "boolean": [true, false, null, "true", "f", "5", "", 1, "maybe"],
  "integer": [5, -1, null, "5", "", 1.5, 2147483648, true, "a"],
  "bigint": [5, null, "9007199254740993", "-1", 9007199254740991, 1.5, "a"],
  "numeric": [5, 0.1, null, "123456789012345678.90", "a"],
  "date": ["2026-03-01", null, "2026-02-30", "infinity", "", 5],
  "timestamp with time zone": [
    "2026-03-01T10:00:00.000Z",
    "2026-03-01T10:00:00.123456+02:00",
    null,
    "-infinity",
    "now then",
    5,
  ],
  "uuid": ["00000000-0000-4000-8000-000000000001", null, "", "x", 5],
  "text[]": [
    [],
    ["a", "b"],
    ["", "null", "NULL", null],
    ['"', "\\", ",", "{}", " ö\n"],
    ["5", 5, true],
    [["a"], ["b"]],
    "{a,b}",
    "a",
    null,
    5,
    { a: 1 },
  ],
  "integer[]": [[1, 2], [], [null], ["3"], "{4}", ["a"], null],
  "uuid[]": [["00000000-0000-4000-8000-000000000001"], [], ["x"]],
  "jsonb[]": [[{ a: 1 }, "5", null, 5], [], ["a"]],
};
const nameOf = (type: string) => `read_${type.replaceAll(/\W/g, "_")}`;

const FIXTURE = Object.keys(VALUES).map((type) =>
  `create function public.${nameOf(type)}(value ${type}) returns jsonb language plpgsql as $$
  begin
    return jsonb_build_object('text', value::text, 'type', pg_typeof(value), 'is_null', value is null);
  end $$;
  grant execute on function public.${nameOf(type)} to service_role;`
).join("\n");

type Opened = Pick<Lite, "rpc" | "database" | "close"> & { fetch: Lite["app"]["fetch"] };

async function open(corrected: boolean): Promise<Opened> {
  if (!SERVER) {
    const lite = await openLite({ corrected, prepare: FIXTURE });
    return { ...lite, fetch: lite.app.fetch };
  }
  const { url, drop } = await newDatabase(SERVER);
  const opened = await openDatabase({ url });
  const { database } = opened;
  const connection = corrected ? opened.connection : createPostgresConnection({ url });
  await database.exec(FIXTURE);
  const app = createLiteApp(connection, SETTINGS);
  if (corrected) await correctConnection(connection);
  return {
    fetch: app.fetch,
    rpc: callRpc(app),
    database,
    close: async () => void await Promise.all([connection.close(), opened.close()]).then(drop),
  };
}

async function fromLite({ rpc }: Opened, { type, value }: { type: string; value: unknown }): Promise<unknown> {
  const response = await rpc(nameOf(type), { value });
  const answer = await response.json();
  return response.ok ? answer : { refused: answer.code };
}

/** With the statement that PostgREST sends, which tests/_support/database.ts sends too. */
async function fromPostgrest({ database }: Opened, { type, value }: { type: string; value: unknown }) {
  try {
    const [row] = await database.query<{ result: unknown }>(
      `select public.${nameOf(type)}(value => args.value) as result
       from json_to_record($1::json) as args (value ${type})`,
      [JSON.stringify({ value })],
    );
    return row!.result;
  } catch (thrown) {
    return { refused: (thrown as { code: string }).code };
  } finally {
    Deno.exitCode = 0;
  }
}

Deno.test("4. lite as shipped reads JSON differently", async () => {
  const lite = await open(false);
  // One driver gets it wrong on PGlite, the other on a server.
  const values = ["5", { a: 1 }];
  const readBy = (read: typeof fromLite) => Promise.all(values.map((value) => read(lite, { type: "jsonb", value })));
  assertNotEquals(await readBy(fromLite), await readBy(fromPostgrest));
  await lite.close();
});

const corrected = await open(true);
Deno.test.afterAll(() => corrected.close());

for (const [type, values] of Object.entries(VALUES)) {
  Deno.test(`4. an argument is read as PostgREST reads it: ${type}`, async () => {
    for (const value of values) {
      const expected = await fromPostgrest(corrected, { type, value });
      assertEquals(await fromLite(corrected, { type, value }), expected, `${type} from ${JSON.stringify(value)}`);
    }
  });
}

// A cursor is a JSON string for some parts, and an array for others.
Deno.test(
  "4. an export of more expenses than a page contains is read completely",
  { ignore: Boolean(SERVER) },
  async () => {
    const lite = await open(true);
    const user_id = crypto.randomUUID();
    await lite.database.query("insert into auth.users (id, email) values ($1, 'mira@example.com')", [user_id]);
    const onboarded = await lite.rpc("complete_onboarding", {
      ...{ user_id, email: "mira@example.com", country: "DE", organization_name: "Mira", timezone: "Europe/Berlin" },
      ...{ base_currency: "EUR", reminder_email: null, at: "2026-11-01T10:00:00Z" },
    });
    const { organization_id } = await onboarded.json();
    await lite.database.exec(
      `insert into app.expenses (id, organization_id, kind, name)
     select app.new_id('exp'), '${organization_id}', 'one_off', 'Lunch ' || n from generate_series(1, 1001) as n;
     insert into app.payments (organization_id, expense_id, amount_minor, currency, paid_on)
     select organization_id, id, 150, 'EUR', '2026-11-01' from app.expenses`,
    );
    const send = (async (url: string, init: RequestInit) => await lite.fetch(new Request(url, init))) as typeof fetch;
    const exports = createExportStore(
      createDatabase({ url: SETTINGS.siteUrl, key: SETTINGS.secretKey, fetch: send }),
    );
    for (const part of ["expenses", "payments"] as const) {
      let rows = 0;
      for (let after: unknown = null;;) {
        const at = new Date("2026-11-20T10:00:00Z");
        const answer = await exports.readPage({ userId: user_id, organizationId: organization_id, part, after, at });
        if (answer.outcome !== "ok") throw new Error(answer.outcome);
        rows += answer.page.rows.length;
        after = answer.page.next;
        if (after === null) break;
      }
      assertEquals(rows, 1001, part);
    }
    await lite.close();
  },
);
