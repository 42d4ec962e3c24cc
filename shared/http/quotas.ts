/**
 * Rate limits that SQL functions apply within the call they protect (supabase/schemas/oauth/draw_from_bucket.sql).
 * They count keyed hashes, so the database stores no addresses.
 */
import type { Config } from "../config.ts";
import type { CalendarLimits } from "../db/calendar_store.ts";
import type { ConnectorLimits } from "../db/connector_store.ts";
import type { Allowance, ClientLimits, ClientRoom, Quota } from "../db/quota.ts";
import { AppError } from "../errors.ts";
import { keyedHash } from "../signed_token.ts";
import { keep } from "../std/keep.ts";
import type { AppContext } from "./app.ts";

// Requests without a token do not count, so they don't load the address parser.
const callers = keep(() => import("./caller.ts"));

interface Limit {
  atMost: number;
  seconds: number;
}

/**
 * Each number can be overridden by name in `RATE_LIMITS`. One caller's failures must not block another's successes, and
 * hosted clients share a handful of addresses. So at the token endpoint and the connector, failures are limited by
 * caller and successes by grant.
 */
const LIMITS = {
  /** Registrations: real clients make one or two per connection; all hosted ones come from a few addresses. */
  register: { atMost: 30, seconds: 60 },
  /**
   * The maximum number of stored unauthorized clients (80 MB), and the time during which callers within their share
   * can't displace one. That time is longer than signing in and reading the consent page.
   */
  ungranted_clients: { atMost: 20_000, seconds: 3600 },
  /** Authorization pages: each calls the identity provider and the database. */
  authorize: { atMost: 120, seconds: 60 },
  /** Refused codes and refresh tokens by caller; rotations and refusals of a known token by grant. */
  token: { atMost: 150, seconds: 300 },
  /** Access tokens that we never issued. */
  failed_bearer: { atMost: 30, seconds: 60 },
  /** Connector requests by grant, so that a new access token gets no new bucket. */
  connector_read: { atMost: 300, seconds: 60 },
  connector_write: { atMost: 60, seconds: 60 },
  /** Sign-in mails per hour: by address, against flooding a mailbox; by caller, against trying many addresses. */
  login_mail_address: { atMost: 5, seconds: 3600 },
  login_mail_ip: { atMost: 20, seconds: 3600 },
  /**
   * Typed codes per hour, by sign-in (an address can have as many sign-ins as mails). A code has a million possible
   * values and is valid for an hour.
   */
  login_code_sign_in: { atMost: 5, seconds: 3600 },
  /** Uses of a mailed link or another service's code per hour. Each works once, and retries follow outages. */
  login_link_secret: { atMost: 10, seconds: 3600 },
  /**
   * Codes and links together, by caller. The identity provider allows a burst of 30 per IP address, and all callers
   * share ours, so this allows twenty every twenty minutes.
   */
  sign_in_ip: { atMost: 20, seconds: 1200 },
  /**
   * Refreshes with one token per hour. The limit allows for tabs that open together and for reloads during an outage.
   */
  session_refresh_secret: { atMost: 60, seconds: 3600 },
  /**
   * Session refreshes, by caller. An active person needs one an hour. The limit is below the identity provider's shared
   * burst of 30.
   */
  session_refresh_ip: { atMost: 20, seconds: 60 },
  /** Mails to a reminder address that its owner has not confirmed. */
  reminder_mail_address: { atMost: 5, seconds: 3600 },
  reminder_mail_ip: { atMost: 20, seconds: 3600 },
  /**
   * Mails that confirm a new sign-in address, by the requesting person, so that mails from others don't use up the
   * limit.
   */
  address_mail_person: { atMost: 5, seconds: 3600 },
  address_mail_ip: { atMost: 20, seconds: 3600 },
  /** Mails of invitations and hand-overs, by sender, recipient and IP address of the caller. */
  member_mail_person: { atMost: 30, seconds: 3600 },
  member_mail_address: { atMost: 5, seconds: 3600 },
  member_mail_ip: { atMost: 120, seconds: 3600 },
  /** Organizations that a person creates per hour. */
  organization_person: { atMost: 10, seconds: 3600 },
  organization_ip: { atMost: 60, seconds: 3600 },
  /** Uploaded statements per hour, because each is read completely. */
  import_upload_person: { atMost: 30, seconds: 3600 },
  import_upload_ip: { atMost: 120, seconds: 3600 },
  /** Exports per hour, because each reads the books. */
  export_person: { atMost: 20, seconds: 3600 },
  export_ip: { atMost: 80, seconds: 3600 },
  /** Unknown or revoked calendar addresses, by caller. Hosted apps of many people share a caller. */
  wrong_calendar: { atMost: 60, seconds: 3600 },
  /** Reads of one calendar. Apps read it a few times a day, and people refresh it. */
  calendar_feed: { atMost: 60, seconds: 3600 },
  /**
   * Fetches of metadata documents (functions/oauth/document_quotas.ts selects the limits): by caller, by host, and in
   * total. Connected clients, each maker's host and each well-known document have separate totals.
   */
  client_document_ip: { atMost: 10, seconds: 60 },
  client_document_day: { atMost: 200, seconds: 86_400 },
  client_document_origin: { atMost: 30, seconds: 60 },
  client_document_all: { atMost: 120, seconds: 60 },
  client_document_connected: { atMost: 120, seconds: 60 },
  client_document_maker: { atMost: 120, seconds: 60 },
  client_document_published: { atMost: 120, seconds: 60 },
  /**
   * Credentials tried at a provider, by person, by caller and in total. Without limits, thieves could test stolen keys
   * through this service.
   */
  provider_test_person: { atMost: 10, seconds: 3600 },
  provider_test_ip: { atMost: 30, seconds: 3600 },
  provider_test_all: { atMost: 120, seconds: 60 },
} satisfies Record<string, Limit>;

export type LimitName = keyof typeof LIMITS;
export type LimitConfig = Pick<Config, "rateLimits" | "codeSecrets" | "frontDoorSecrets">;

/**
 * The draws for one request, in order; none when limits are off.
 * @param subjects the subject of each limit; an undefined one, such as an unknown address, is not limited.
 */
export async function quotasFor(
  config: LimitConfig,
  subjects: readonly (readonly [LimitName, string | undefined])[],
): Promise<Quota[]> {
  if (config.rateLimits === "off") return [];
  const quotas = subjects.map(async ([name, subject]) =>
    subject === undefined ? [] : [{ key: await keyOf(config, name, subject), ...limitOf(config, name)! }]
  );
  return (await Promise.all(quotas)).flat();
}

/** An IPv6 /48 counts as at most this many /64s. */
const MAX_SUBNETS = 8;

/**
 * The draws of the caller of this request: its own and, for IPv6, its network's.
 * @param share_of a common bucket, of which each caller gets a share
 */
export async function callerQuotas(
  config: LimitConfig,
  name: LimitName,
  c: AppContext,
  share_of?: Quota,
): Promise<Quota[]> {
  const limit = limitOf(config, name);
  const caller = limit && (await callers()).readCaller(c.req.raw.headers, config);
  if (!caller) return [];
  const shared = share_of && { share_of };
  const own = { key: await keyOf(config, name, caller.name), ...limit, ...shared };
  if (!caller.network) return [own];
  const at_most = limit.at_most * MAX_SUBNETS;
  return [own, { key: await keyOf(config, name, caller.network), at_most, seconds: limit.seconds, ...shared }];
}

/** The same for a share of a common bucket. A network's share equals a single address's share. */
export async function shareQuotas(config: LimitConfig, name: LimitName, c: AppContext): Promise<Quota[]> {
  const caller = (await callers()).readCaller(c.req.raw.headers, config);
  return await quotasFor(config, [[name, caller && (caller.network ?? caller.name)]]);
}

/** Limits on storing a client added by this request until somebody authorizes it; null when limits are off. */
export async function clientRoom(config: LimitConfig, c: AppContext): Promise<ClientRoom | null> {
  const [counted] = await shareQuotas(config, "ungranted_clients", c);
  const limit = limitOf(config, "ungranted_clients");
  return limit ? { caller: counted?.key ?? null, ...limit } : null;
}

/** Limits of a client's request to the token or revocation endpoint. */
export const tokenLimits = async (config: LimitConfig, c: AppContext): Promise<ClientLimits> => ({
  caller: await callerQuotas(config, "token", c),
  grant: limitOf(config, "token"),
});

/** Limits of a connector request; undefined when limits are off. */
export async function connectorLimits(config: LimitConfig, c: AppContext): Promise<ConnectorLimits | undefined> {
  const read = limitOf(config, "connector_read");
  const write = limitOf(config, "connector_write");
  return read && write && { caller: await callerQuotas(config, "failed_bearer", c), read, write };
}

/** Limits of a request for a calendar. */
export async function calendarLimits(config: LimitConfig, c: AppContext): Promise<CalendarLimits> {
  const feed = limitOf(config, "calendar_feed");
  return { caller: await callerQuotas(config, "wrong_calendar", c), ...(feed && { feed }) };
}

/** The allowance of a limit whose subject SQL determines; undefined when limits are off. */
export function limitOf({ rateLimits }: Pick<Config, "rateLimits">, name: LimitName): Allowance | undefined {
  if (rateLimits === "off") return undefined;
  const override = typeof rateLimits === "object" ? rateLimits[name] : undefined;
  return { at_most: override ?? LIMITS[name].atMost, seconds: LIMITS[name].seconds };
}

/** Whether `RATE_LIMITS` names this limit. */
export const isOverridden = ({ rateLimits }: Pick<Config, "rateLimits">, name: LimitName): boolean =>
  typeof rateLimits === "object" && name in rateLimits;

const keyOf = async ({ codeSecrets }: LimitConfig, name: LimitName, subject: string) =>
  `${name}:${await keyedHash(codeSecrets, name, subject)}`;

/** @param retryAfter seconds, from the database @param says the message for a person */
export const tooMany = (retryAfter: number, says: NonNullable<AppError["options"]["says"]>): AppError =>
  new AppError("rate_limited", "too many attempts", { headers: { "retry-after": String(retryAfter) }, says });

/** For a person who tried too often. @param retryAfter seconds */
export const tooManyAttempts = (retryAfter: number): AppError =>
  tooMany(retryAfter, ({ tooManyAttempts }) => tooManyAttempts(retryAfter));
