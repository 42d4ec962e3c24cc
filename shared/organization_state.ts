/** The state of an organization for its pages: whether it is being deleted, and whether it accepts changes. */
import * as z from "zod/mini";

/** The result of `identity.describe_state`. */
export const OrganizationState = z.object({
  name: z.string(),
  deletes_at: z.nullable(z.string()),
  /** The owner's address. */
  owner: z.string(),
  is_owner: z.boolean(),
  /** Whether the organization accepts changes: not during deletion, nor without a plan that includes them. */
  takes_changes: z.boolean(),
  /** Whether the reader's role may write. */
  writes: z.boolean(),
  /** For the tabs at the top; absent in the previous version's database. */
  tabs: z.optional(z.object({
    /** Whether the reader may export. */
    exports: z.boolean(),
    /** Whether the operator sells plans. */
    plans: z.boolean(),
    /** The reader's organizations, for the switcher. */
    organizations: z.array(z.object({ id: z.string(), name: z.string() })),
  })),
});
export type OrganizationState = z.infer<typeof OrganizationState>;
