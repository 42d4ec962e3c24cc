/** What pages of an organization say about its state: whether it is being deleted, and whether it takes changes. */
import * as z from "zod/mini";

/** As `identity.describe_state` answers it. */
export const OrganizationState = z.object({
  name: z.string(),
  deletes_at: z.nullable(z.string()),
  /** The owner's address. */
  owner: z.string(),
  is_owner: z.boolean(),
  /** Whether anything can be written: not while it is being deleted, nor without a plan that includes it. */
  takes_changes: z.boolean(),
  /** Whether the reader's role may write. */
  writes: z.boolean(),
  /** For the tabs on top; the database of the version before has none. */
  tabs: z.optional(z.object({
    /** Whether the reader may export. */
    exports: z.boolean(),
    /** Whether the operator has plans. */
    plans: z.boolean(),
    /** The reader's. */
    organizations: z.array(z.object({ id: z.string(), name: z.string() })),
  })),
});
export type OrganizationState = z.infer<typeof OrganizationState>;
