/** What a bill provider is to us: somebody who can say what an account owes for a month. Which ones there are is in registry.ts. */

export interface StatementRequest {
  /** The provider link (`lnk_…`), by which its credential is found. */
  linkId: string;
  /** Masked label of the account at the provider. */
  account: string;
  /** The month asked for, `YYYY-MM`. */
  period: string;
}

/** What a provider says of one account and month. */
export type ProviderAnswer =
  /** Amount as a decimal string in major units; `dueOn` when the provider states one. */
  | { outcome: "statement"; amount: string; currency: string; dueOn?: string }
  /** There is no statement for the month yet. */
  | { outcome: "not_ready" }
  /** The credential is no longer accepted: the owner has to connect again. */
  | { outcome: "auth_error" }
  /** Anything else, by a short code for people who look into it. */
  | { outcome: "error"; code: string };

export interface Provider {
  /** `provider_links.provider_key`. */
  key: string;
  /** What people call it. */
  name: string;
  /** Asks the provider; must not throw. */
  fetchStatement(request: StatementRequest): Promise<ProviderAnswer>;
}
