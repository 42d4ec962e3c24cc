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
});
export type OrganizationState = z.infer<typeof OrganizationState>;
