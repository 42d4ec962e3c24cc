/** A page never takes for done what a database that lies did not confirm. */
import { assertEquals } from "@std/assert";
import { createActivityStore } from "../../shared/db/activity_store.ts";
import { createApprovalStore } from "../../shared/db/approval_store.ts";
import { createBooksStore } from "../../shared/db/books_store.ts";
import { createCalendarStore } from "../../shared/db/calendar_store.ts";
import type { Database } from "../../shared/db/client.ts";
import { createDeletionStore } from "../../shared/db/deletion_store.ts";
import { createIdentityStore } from "../../shared/db/identity_store.ts";
import { createMembersStore } from "../../shared/db/members_store.ts";
import { createProviderLinkStore } from "../../shared/db/provider_link_store.ts";
import { AppError } from "../../shared/errors.ts";

const STORES = [
  createActivityStore,
  createApprovalStore,
  createBooksStore,
  createCalendarStore,
  createDeletionStore,
  createIdentityStore,
  createMembersStore,
  createProviderLinkStore,
];

/** What has no outcomes: reads, and mails that are claimed again when nobody says that they went out. */
const OTHERS: Record<string, string[]> = {
  createApprovalStore: ["readPolicy", "list", "claimMails", "settleMail"],
  createDeletionStore: ["read"],
  createIdentityStore: ["noteSignIn", "readOnboarding", "readAccount", "readUnsubscribing"],
  createMembersStore: ["read", "readRemoval", "readNewOrganization"],
};
const LIES = [{}, [], null, "", 0, { ok: true }, { outcome: null }, { outcome: {} }];

/** Whatever is asked for. */
const anything = new Proxy({}, { get: (_, key) => ["at", "until"].includes(String(key)) ? new Date(0) : "x" });

Deno.test("an answer without an outcome is an outage to every call of a page that has outcomes", async () => {
  const silent: string[] = [];
  for (const create of STORES) {
    for (const lie of LIES) {
      const database = { call: () => Promise.resolve(lie) } as unknown as Database;
      for (const [name, method] of Object.entries(create(database))) {
        if (OTHERS[create.name]?.includes(name)) continue;
        const error = await (method as (asked: unknown) => Promise<unknown>)(anything).then(
          () => null,
          (thrown) => thrown,
        );
        if (!(error instanceof AppError) || error.code !== "unavailable") silent.push(`${create.name} ${name}`);
      }
    }
  }
  assertEquals([...new Set(silent)], []);
});
