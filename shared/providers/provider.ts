/** What a bill provider is to us: somebody who can say what an account has to pay for a month. Which ones there are is in registry.ts. */
import type { Words } from "../words/words.ts";
import type { ProviderGet } from "./get.ts";

/** What the connect page asks a person for. All of it is kept encrypted; an address of somebody's own may hold a secret too. */
export interface CredentialField {
  name: string;
  /** What it is called; where to find it and what it must be allowed to do, in a sentence. */
  words(credentials: Words["pages"]["credentials"]): { label: string; hint: string };
  /** Typed blind and never shown again. */
  isSecret: boolean;
  /** What a well-formed value looks like; it is searched for a whole match. */
  pattern: RegExp;
}

/** The values of a provider's fields, by name. */
export type Credential = Readonly<Record<string, string>>;

/** A calendar month in UTC: `YYYY-MM-01`, the end exclusive. */
export interface Month {
  start: string;
  end: string;
}

export interface MonthRequest {
  month: Month;
  credential: Credential;
  get: ProviderGet;
}

/** What an account owes for a month. */
export interface Statement {
  /** Decimal string in major units, rounded once to the currency's own decimals; never negative. */
  amount: string;
  /** ISO 4217, upper case. */
  currency: string;
  /** `YYYY-MM-DD`, when the provider states one. */
  dueOn?: string;
  /** How many pages it took. */
  pages: number;
}

export interface Provider {
  /** `provider_links.provider_key`. */
  key: string;
  /** What people call it. */
  name: string;
  /** Where its API is; absent when the address is part of the credential. */
  base?: string;
  fields: readonly CredentialField[];
  /** What a person knows the account by; shows nothing of a secret but its last four characters. */
  label(credential: Credential): string;
  /**
   * Asks for a month that is over; the same answer for as long as the provider says the same.
   * @throws {ProviderError} and nothing else that a provider can bring about; `not_ready` while there is no final amount, which is never 0.
   */
  fetchMonth(request: MonthRequest): Promise<Statement>;
}
