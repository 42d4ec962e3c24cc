/**
 * Queries the provider of a link for a month: decrypts the credential, calls the provider's adapter, and maps every
 * outcome to one of a few answers. Never throws; neither answers nor logs contain secrets. The database decides how an
 * answer affects the bill.
 */
import * as z from "zod/mini";
import type { Clock } from "../clock.ts";
import { Envelope, openCredential } from "../credentials/envelope.ts";
import type { Log } from "../log.ts";
import { before } from "../net/deadline.ts";
import type { GuardedFetch } from "../net/guarded_fetch.ts";
import { FetchRefused } from "../net/refusal.ts";
import { createProviderGet } from "./get.ts";
import { monthOf, type Period } from "./period.ts";
import type { Credential, Provider, Statement } from "./provider.ts";
import { ProviderError, type ProviderFailure } from "./provider_error.ts";
import type { Registry } from "./registry.ts";

/** A link to query, in the form that the database returns. */
export const PendingLink = z.object({ link_id: z.string(), provider_key: z.string(), period: z.string() });
export type PendingLink = z.infer<typeof PendingLink>;

export const AskedLink = z.extend(PendingLink, {
  /** Null when no credential is stored for the link. */
  envelope: z.nullable(Envelope),
});
export type AskedLink = z.infer<typeof AskedLink>;

/** The form that app.keep_answer expects. */
export type Answer =
  | { outcome: "statement"; amount: string; currency: string; due_on?: string; provider_name: string }
  | { outcome: "failed"; code: AskFailure; retry_after?: number; provider_name?: string };

export type AskFailure =
  | ProviderFailure
  /** This version has no adapter for the provider. */
  | "no_adapter"
  /** The credential cannot be decrypted: its key is not configured, or somebody tampered with it. */
  | "unreadable_credential"
  /** An unexpected exception in an adapter. */
  | "defect";

export interface AskDeps {
  registry: Registry;
  /** Master keys of credentials, `config.credentialsKeys`. */
  keys: readonly string[];
  /** `config.providerBases`. */
  bases: Readonly<Record<string, string>>;
  fetch: typeof fetch;
  guardedFetch: GuardedFetch;
  clock: Clock;
  log: Log;
}

/** Whether to query the provider for another month of the same account, because the answer concerns one month only. */
export const isAboutOneMonth = (answer: Answer): boolean =>
  answer.outcome === "statement" || ["not_ready", "bad_shape", "defect"].includes(answer.code);

/** @param options.deadlineMs for the whole query. */
export type Ask = (link: AskedLink, options: { deadlineMs: number }) => Promise<Answer>;

export function createAsk(deps: AskDeps): Ask {
  return async (link, options) => {
    const provider = deps.registry.get(link.provider_key);
    if (!provider) return { outcome: "failed", code: "no_adapter" };
    try {
      const credential = await open(link, deps.keys);
      if (typeof credential === "string") return failed(provider, credential);
      const asked = { provider, credential, period: link.period };
      const { amount, currency, dueOn } = await fetchMonth(asked, deps, options);
      return {
        outcome: "statement",
        amount,
        currency,
        provider_name: provider.name,
        ...(dueOn && { due_on: dueOn }),
      };
    } catch (thrown) {
      if (thrown instanceof ProviderError) return failed(provider, thrown.code, thrown.retryAfterSeconds);
      if (thrown instanceof FetchRefused && thrown.reason === "timed_out") return failed(provider, "timeout");
      // Hides the message, which may quote the input.
      deps.log.error("provider_defect", {
        reason: provider.key,
        error: thrown instanceof Error ? thrown.name : typeof thrown,
      });
      return failed(provider, "defect");
    }
  };
}

/** The credential of a link, or why it is missing. */
async function open({ link_id, envelope }: AskedLink, keys: readonly string[]): Promise<Credential | AskFailure> {
  // Only connecting the bill again helps.
  if (!envelope) return "auth";
  return await openCredential(keys, link_id, envelope).catch(() => "unreadable_credential" as const);
}

/** Stops waiting at the deadline even if an adapter does not stop by itself. */
function fetchMonth(
  { provider, credential, period }: { provider: Provider; credential: Credential; period: Period },
  { bases, fetch, guardedFetch, clock }: AskDeps,
  { deadlineMs }: { deadlineMs: number },
): Promise<Statement> {
  const signal = AbortSignal.timeout(deadlineMs);
  const get = createProviderGet({ provider, bases, fetch, guardedFetch, clock, signal });
  return before(signal, provider.fetchMonth({ month: monthOf(period), credential, get }));
}

const failed = (provider: Provider, code: AskFailure, retryAfter?: number): Answer => ({
  outcome: "failed",
  code,
  provider_name: provider.name,
  ...(retryAfter !== undefined && { retry_after: Math.max(0, Math.ceil(retryAfter)) }),
});
