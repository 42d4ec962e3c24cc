/** How long the service keeps each kind of row, for the privacy page; a test compares `app.retention`. */
export const RETENTION: Readonly<Record<string, string>> = {
  deleted_organizations: "14 days",
  deleted_accounts: "14 days",
  deleted_records: "30 days",
  documents: "400 days",
  change_contents: "30 days",
  changes: "400 days",
  imports: "24 hours",
  invitations: "30 days",
  tokens: "30 days",
  grants: "30 days",
  attempts: "1 day",
  digests: "400 days",
  proposals: "90 days",
  tool_reads: "90 days",
  payment_events: "400 days",
};
