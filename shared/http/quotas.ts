/**
 * How often something may be done: the limits that SQL functions draw from within the call that they protect
 * (migration rate_limits). Counted by keyed hash, so that nobody's address is kept.
 */
import type { Config } from "../config.ts";
import type { ConnectorLimits } from "../db/connector_store.ts";
import type { Allowance, ClientLimits, ClientRoom, Quota } from "../db/quota.ts";
import { AppError } from "../errors.ts";
import { keyedHash } from "../signed_token.ts";
import type { AppContext } from "./app.ts";
import { readCaller } from "./caller.ts";

interface Limit {
  atMost: number;
  seconds: number;
}

/**
 * Each number can be changed by its name in `RATE_LIMITS`. What counts for whom: service of one caller must not hang on another's failures, so
 * what is limited by caller at the token endpoint and the connector is what failed (hosted clients reach us from a handful of addresses), and
 * what succeeds is limited by grant.
 */
const LIMITS = {
  /** Registrations: real clients make one or two a connection, hosted ones all from a few addresses. */
  register: { atMost: 30, seconds: 60 },
  /** Clients that are kept without anybody having authorized them (80 MB at most), and for how long nobody over its share takes one's place:
   * longer than a person takes to sign in and read the consent page. */
  ungranted_clients: { atMost: 20_000, seconds: 3600 },
  /** Authorization pages: each asks the identity provider and the database. */
  authorize: { atMost: 120, seconds: 60 },
  /** Refused codes and refresh tokens by caller; rotations and refusals of a known token by grant. */
  token: { atMost: 150, seconds: 300 },
  /** Access tokens that we never issued. */
  failed_bearer: { atMost: 30, seconds: 60 },
  /** Requests of the connector, by grant: a new access token is no new bucket. */
  connector_read: { atMost: 300, seconds: 60 },
  connector_write: { atMost: 60, seconds: 60 },
  /** Sign-in mails an hour: by address, against flooding a mailbox; by caller, against trying many addresses. */
  login_mail_address: { atMost: 5, seconds: 3600 },
  login_mail_ip: { atMost: 20, seconds: 3600 },
  /** Typed codes an hour: by sign-in, of which an address has as many as mails; a code has a million values and lives for an hour. */
  login_code_sign_in: { atMost: 5, seconds: 3600 },
  login_code_ip: { atMost: 60, seconds: 3600 },
  /** Mails to a reminder address that its owner has not confirmed. */
  reminder_mail_address: { atMost: 5, seconds: 3600 },
  reminder_mail_ip: { atMost: 20, seconds: 3600 },
  /** Metadata documents that are fetched (functions/oauth/document_quotas.ts says which of these a document draws on): by who makes us and by
   * whom we ask; then in all, apart for clients that somebody has connected, for each maker's host, and for each document that everybody knows. */
  client_document_ip: { atMost: 10, seconds: 60 },
  client_document_day: { atMost: 200, seconds: 86_400 },
  client_document_origin: { atMost: 30, seconds: 60 },
  client_document_all: { atMost: 120, seconds: 60 },
  client_document_connected: { atMost: 120, seconds: 60 },
  client_document_maker: { atMost: 120, seconds: 60 },
  client_document_published: { atMost: 120, seconds: 60 },
  /** Credentials that we try at a provider: without limits we would tell anybody which of many keys work. By person, by caller, and in all. */
  provider_test_person: { atMost: 10, seconds: 3600 },
  provider_test_ip: { atMost: 30, seconds: 3600 },
  provider_test_all: { atMost: 120, seconds: 60 },
} satisfies Record<string, Limit>;

export type LimitName = keyof typeof LIMITS;
export type LimitConfig = Pick<Config, "rateLimits" | "codeSecrets" | "frontDoorSecrets">;

/**
 * The draws for one request, in the order given; none where limits are off.
 * @param subjects whom each limit is for; an undefined one, an address that is not known, is not limited.
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

/** How many of its /64s a /48 of IPv6 may stand for at once, as far as limits go. */
const NEIGHBOURS = 8;

/**
 * The draws of whoever makes this request: their own, then, of IPv6, those of their network.
 * @param share_of what all callers draw on together, of which each gets a part.
 */
export async function callerQuotas(
  config: LimitConfig,
  name: LimitName,
  c: AppContext,
  share_of?: Quota,
): Promise<Quota[]> {
  const limit = limitOf(config, name);
  const caller = limit && await readCaller(c.req.raw.headers, config);
  if (!caller) return [];
  const shared = share_of && { share_of };
  const own = { key: await keyOf(config, name, caller.name), ...limit, ...shared };
  if (!caller.network) return [own];
  const at_most = limit.at_most * NEIGHBOURS;
  return [own, { key: await keyOf(config, name, caller.network), at_most, seconds: limit.seconds, ...shared }];
}

/** The same for a part of what is there for everybody, which a network gets no larger one of than an address. */
export async function shareQuotas(config: LimitConfig, name: LimitName, c: AppContext): Promise<Quota[]> {
  const caller = await readCaller(c.req.raw.headers, config);
  return await quotasFor(config, [[name, caller && (caller.network ?? caller.name)]]);
}

/** Where a client that this request adds may be kept until somebody authorizes it; null where limits are off. */
export async function clientRoom(config: LimitConfig, c: AppContext): Promise<ClientRoom | null> {
  const [counted] = await shareQuotas(config, "ungranted_clients", c);
  const limit = limitOf(config, "ungranted_clients");
  return limit ? { caller: counted?.key ?? null, ...limit } : null;
}

/** What a client's request to the token or revocation endpoint draws on. */
export const tokenLimits = async (config: LimitConfig, c: AppContext): Promise<ClientLimits> => ({
  caller: await callerQuotas(config, "token", c),
  grant: limitOf(config, "token"),
});

/** What a request to the connector draws on; undefined where limits are off. */
export async function connectorLimits(config: LimitConfig, c: AppContext): Promise<ConnectorLimits | undefined> {
  const read = limitOf(config, "connector_read");
  const write = limitOf(config, "connector_write");
  return read && write && { caller: await callerQuotas(config, "failed_bearer", c), read, write };
}

/** What a limit allows, for SQL that knows by itself whom to count; undefined where limits are off. */
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

/** @param retryAfter in seconds, as the database says. @param says what a person reads. */
export const tooMany = (retryAfter: number, says: NonNullable<AppError["options"]["says"]>): AppError =>
  new AppError("rate_limited", "too many attempts", { headers: { "retry-after": String(retryAfter) }, says });

/** For a person who tried too often. @param retryAfter in seconds. */
export const tooManyAttempts = (retryAfter: number): AppError =>
  tooMany(retryAfter, ({ tooManyAttempts }) => tooManyAttempts(retryAfter));
