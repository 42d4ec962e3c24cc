/** What pages of an organization say about its state: whether it is being deleted, and whether it takes changes. */

/** As `identity.describe_state` answers it. */
export interface OrganizationState {
  name: string;
  deletes_at: string | null;
  /** The owner's address. */
  owner: string;
  is_owner: boolean;
  /** Whether anything can be written: not while it is being deleted, nor without a plan that includes it. */
  takes_changes: boolean;
  /** Whether the reader's role may write. */
  writes: boolean;
}
