/** Database calls of the pages that delete an organization or an account, or take that back. */
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

export interface DeletableOrganization {
  id: string;
  name: string;
  is_owner: boolean;
  /** While it is being deleted: when that is final. */
  deletes_at: string | null;
  /** Whether a paid plan is running. */
  is_paid: boolean;
  /** How many people besides the reader belong to it. */
  members: number;
  may_delete: boolean;
}

export interface Deletion {
  /** Null before onboarding. */
  country: string | null;
  deletes_at: string | null;
  organizations: DeletableOrganization[];
}

type Person = { userId: string; at: Date };
type OfOrganization = Person & { organizationId: string };

export type DeletionStore = ReturnType<typeof createDeletionStore>;

/** Every method throws what `Database.call` throws. */
export function createDeletionStore(database: Database) {
  const ask = asking(database);
  return {
    read: (userId: string) => database.call<Deletion>("read_deletion", { user_id: userId }),

    /** `members` are the addresses of everybody else in it. @param asked.name as the owner typed it. */
    deleteOrganization: ({ userId, organizationId, name, at }: OfOrganization & { name: string }) =>
      ask<
        | { outcome: "scheduled"; name: string; deletes_at: string; members: string[] }
        | { outcome: "already" | "wrong_name" | "forbidden" }
      >("delete_organization", { user_id: userId, organization_id: organizationId, name, at }),

    keepOrganization: ({ userId, organizationId, at }: OfOrganization) =>
      ask<
        | { outcome: "kept"; name: string; members: string[] }
        | { outcome: "already" | "too_late" | "forbidden" }
      >("keep_organization", { user_id: userId, organization_id: organizationId, at }),

    /** `owner`: they still own an organization that stays. @param asked.email their sign-in address. */
    deleteAccount: ({ userId, email, at }: Person & { email: string }) =>
      ask<{ outcome: "scheduled"; deletes_at: string } | { outcome: "already" | "owner" }>(
        "delete_account",
        { user_id: userId, email, at },
      ),

    keepAccount: ({ userId, at }: Person) =>
      ask<{ outcome: "kept" | "already" }>("keep_account", { user_id: userId, at }),
  };
}
