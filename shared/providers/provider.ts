/**
 * The interface of a bill provider, which reports the amount that an account owes for a month. registry.ts lists the
 * providers.
 */
import type { PageWords } from "../words/page_words.ts";
import type { ProviderGet } from "./get.ts";

/**
 * A field of the connect form. All values are stored encrypted; a URL that a person typed may also contain a secret.
 */
export interface CredentialField {
  name: string;
  /** Its label, and a sentence about its source and the required permissions. */
  words(credentials: PageWords["credentials"]): { label: string; hint: string };
  /** A password input, never shown again. */
  isSecret: boolean;
  /** The pattern of a valid value; must match as a whole. */
  pattern: RegExp;
}

/** Values of a provider's fields, by name. */
export type Credential = Readonly<Record<string, string>>;

/** A calendar month in UTC: starts on `YYYY-MM-01`, the end is exclusive. */
export interface Month {
  start: string;
  end: string;
}

export interface MonthRequest {
  month: Month;
  credential: Credential;
  get: ProviderGet;
}

/** An account's cost for a month. */
export interface Statement {
  /** Decimal string in major units, rounded once to the currency's decimals; never negative. */
  amount: string;
  /** ISO 4217, upper case. */
  currency: string;
  /** `YYYY-MM-DD`, if the provider states one. */
  dueOn?: string;
  /** The number of pages read. */
  pages: number;
}

export interface Provider {
  /** `provider_links.provider_key`. */
  key: string;
  /** Display name. */
  name: string;
  /** Base URL of its API; absent when the URL is part of the credential. */
  base?: string;
  fields: readonly CredentialField[];
  /** Identifies the account to a person; reveals at most the last four characters of a secret. */
  label(credential: Credential): string;
  /**
   * Fetches a month that has ended. Idempotent as long as the provider's data does not change.
   * @throws {ProviderError} for every provider failure; `not_ready` while no final amount exists (never reported as
   * 0).
   */
  fetchMonth(request: MonthRequest): Promise<Statement>;
}
