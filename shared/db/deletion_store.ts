/** Database calls of the pages that delete an organization or an account, or cancel the deletion. */
import * as z from "zod/mini";
import { either, outcome } from "../outcome.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

export const DeletableOrganization = z.object({
  id: z.string(),
  name: z.string(),
  is_owner: z.boolean(),
  /** While it is being deleted: the time when the deletion becomes final. */
  deletes_at: z.nullable(z.string()),
  /** Whether a paid plan is running. */
  is_paid: z.boolean(),
  /** The number of other members, without the reader. */
  members: z.number(),
  may_delete: z.boolean(),
  /** The person's rights, for tabs; absent in the previous version's database. */
  writes: z.optional(z.boolean()),
  exports: z.optional(z.boolean()),
});
export type DeletableOrganization = z.infer<typeof DeletableOrganization>;

export const Deletion = z.object({
  /** Null before onboarding. */
  country: z.nullable(z.string()),
  deletes_at: z.nullable(z.string()),
  /** Whether the operator has plans. */
  plans: z.optional(z.boolean()),
  organizations: z.array(DeletableOrganization),
});
export type Deletion = z.infer<typeof Deletion>;

type Person = { userId: string; at: Date };
type OfOrganization = Person & { organizationId: string };

export type DeletionStore = ReturnType<typeof createDeletionStore>;

export const ANSWERS = {
  read_deletion: Deletion,
  delete_organization: either(
    outcome(["scheduled"], { name: z.string(), deletes_at: z.string(), members: z.array(z.string()) }),
    outcome(["already", "wrong_name", "forbidden"]),
  ),
  keep_organization: either(
    outcome(["kept"], { name: z.string(), members: z.array(z.string()) }),
    outcome(["already", "too_late", "forbidden"]),
  ),
  delete_account: either(outcome(["scheduled"], { deletes_at: z.string() }), outcome(["already", "owner"])),
  keep_account: outcome(["kept", "already"]),
};

/** Every method throws what `Database.call` throws. */
export function createDeletionStore(database: Database) {
  const ask = asking(database, ANSWERS);
  return {
    read: (userId: string) => ask("read_deletion", { user_id: userId }),

    /** `members` are the addresses of all other members. @param asked.name as the owner typed it */
    deleteOrganization: ({ userId, organizationId, name, at }: OfOrganization & { name: string }) =>
      ask("delete_organization", { user_id: userId, organization_id: organizationId, name, at }),

    keepOrganization: ({ userId, organizationId, at }: OfOrganization) =>
      ask("keep_organization", { user_id: userId, organization_id: organizationId, at }),

    /** `owner`: they still own an organization that remains. @param asked.email the person's sign-in address */
    deleteAccount: ({ userId, email, at }: Person & { email: string }) =>
      ask("delete_account", { user_id: userId, email, at }),

    keepAccount: ({ userId, at }: Person) => ask("keep_account", { user_id: userId, at }),
  };
}
