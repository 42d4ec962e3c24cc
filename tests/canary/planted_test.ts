/**
 * Tests of the test: removes the tenant filters one by one in a separate database; the canary must detect each
 * removal. For digests, row-level security is a second barrier, so data leaks only after the owner's rights are
 * removed as well.
 */
import { assert, assertEquals } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { checkFunctions } from "./functions.ts";
import { openTenants } from "./tenants.ts";

interface Planted {
  what: string;
  /** The function with the filter, and the filter. */
  in: string;
  filter: RegExp;
  /** The function of schema public that shows the leak. */
  seenBy: string;
  /** Functions that read as the owner, so that row-level security still applies without the filter. */
  asOwner?: string;
}

const PLANTED: Planted[] = [
  {
    what: "overdue bills of a digest without the organization filter",
    in: "app.describe_due_bills",
    filter: /c\.organization_id = organization\.id and (?=c\.status = 'open' and c\.due_on < today)/,
    seenBy: "claim_reminders",
    asOwner: "app.describe_due_bills",
  },
  {
    what: "reconnect notices without the organization filter",
    in: "app.describe_reconnects",
    filter: /l\.organization_id = organization\.id and /,
    seenBy: "claim_reminders",
    asOwner: "app.describe_reconnects",
  },
  {
    what: "connectable bills of all tenants on the account page",
    in: "public.read_account",
    filter: /o\.owner_id = p\.user_id and (?=o\.deletes_at is null and e\.kind = 'bill')/,
    seenBy: "read_account",
  },
  {
    what: "an unsubscribe page that lists other tenants' bills",
    in: "public.read_unsubscribing",
    filter: /(?<=where )m\.user_id = p\.user_id/,
    seenBy: "read_unsubscribing",
  },
  {
    what: "an unsubscribe that switches off other tenants' bills",
    in: "public.unsubscribe",
    filter: /(?<=e\.id = scope) and o\.owner_id = unsubscribe\.user_id/,
    seenBy: "unsubscribe",
  },
];

const database = await sharedDatabase();
const tenants = await openTenants(database);

/** Runs `work` without a filter, then restores it. */
async function without({ in: name, filter }: Planted, work: () => Promise<void>): Promise<void> {
  const [row] = await database.query<{ source: string }>("select pg_get_functiondef($1::regproc) as source", [name]);
  // If the filter is the whole condition, a true condition must remain.
  const changed = row!.source.replace(filter, filter.source.startsWith("(?<=where") ? "true" : "");
  assert(changed !== row!.source, `${name} no longer has ${filter}: update tests/canary/planted_test.ts`);
  await database.exec(changed);
  try {
    await work();
  } finally {
    await database.exec(row!.source);
  }
}

for (const planted of PLANTED) {
  Deno.test(`the canary catches ${planted.what}`, async () => {
    const check = () => checkFunctions(database, tenants, [planted.seenBy]);
    assertEquals(await check(), [], "before anything is planted");
    await without(planted, async () => {
      if (planted.asOwner) {
        assertEquals(await check(), [], "row-level security holds without the filter");
        await database.exec(`alter function ${planted.asOwner} reset role`);
      }
      const findings = await check();
      assert(findings.length > 0, "nobody noticed");
      assert(findings.every((finding) => finding.startsWith(`public.${planted.seenBy}(`)), findings.join("\n"));
    });
    assertEquals(await check(), [], "with the filter restored");
  });
}
