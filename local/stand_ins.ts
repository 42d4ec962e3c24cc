/**
 * The embedded stack's stand-ins for real services: the banner lists the active ones, and the functions get their
 * settings from here.
 */
import type { Environment } from "../shared/config.ts";
import { providersFixtureBases } from "./fixtures/providers/app.ts";
import { LOCAL_DOMAIN } from "./local_domain.ts";
import { SNAPSHOT_DAY } from "./rates/snapshot.ts";

export interface StackFacts {
  /** The process's own variables; each overrides a stand-in. */
  own: Environment;
  /** `embedded`, or the URL of a real PostgreSQL. */
  db: string;
  /** Base URL of the local port; undefined when the site is public. */
  localUrl?: string | undefined;
  /** Whether all values come from the snapshot. */
  demoRates: boolean;
  /** Whether the snapshot is used because no source responded. */
  lacksRates?: boolean;
  /** The mailbox as a mail server. */
  mailboxUrl: string;
  /** The settings with which its SMTP port calls the inbound-mail function. */
  inboundSecret?: string;
}

export interface StandIn {
  name: string;
  /** The difference from the real service, for the banner. */
  says: string;
}

interface Known extends StandIn {
  isActive(stack: StackFacts): boolean;
  /** Settings of the functions. */
  settings?(stack: StackFacts): Environment;
}

export const MAIL_FROM = "Expenses <expenses@localhost>";

/** Local mail can't flood anybody, and tests sign in often. */
const OWN_LIMITS = {
  login_mail_address: 1_000_000,
  login_mail_ip: 1_000_000,
  sign_in_ip: 1_000_000,
  session_refresh_ip: 1_000_000,
  reminder_mail_ip: 1_000_000,
};

const keepsMail = ({ own }: StackFacts) => !own.MAIL_URL;

const KNOWN: readonly Known[] = [
  {
    name: "Mail",
    says: "stays in the mailbox and is never sent; MAIL_URL and MAIL_FROM send it",
    isActive: keepsMail,
    settings: ({ mailboxUrl }) => ({ MAIL_URL: mailboxUrl, MAIL_FROM }),
  },
  {
    name: "Forwarded mail",
    says: "comes from programs on this machine, and nobody checks who sent it",
    isActive: ({ own, localUrl, inboundSecret }) =>
      !own.INBOUND_URL && localUrl !== undefined && Boolean(inboundSecret),
    settings: ({ inboundSecret }) => ({ INBOUND_URL: `raw://stack:${inboundSecret}@${LOCAL_DOMAIN}` }),
  },
  {
    name: "Limits",
    says: "of sign-ins and of the mails that people ask for are off",
    isActive: keepsMail,
    settings: ({ own }) => ({ RATE_LIMITS: withOwnLimits(own.RATE_LIMITS) }),
  },
  {
    name: "Exchange rates",
    says: `are a snapshot of ${SNAPSHOT_DAY}: values are provisional until the sources' own are there`,
    isActive: ({ demoRates, lacksRates }) => demoRates || lacksRates === true,
    settings: ({ demoRates }) => demoRates ? { FX_SOURCES: "none" } : {},
  },
  {
    name: "Bill providers",
    says: "are simulated: they accept any credential, and their amounts are invented",
    isActive: ({ own, localUrl }) => !own.PROVIDER_BASES && localUrl !== undefined,
    settings: ({ localUrl }) => ({ PROVIDER_BASES: providersFixtureBases(`${localUrl}/providers`) }),
  },
  {
    name: "Payments",
    says: "have no provider: `task operate webhook` sends its events",
    isActive: ({ own }) => !own.CHECKOUT_URL,
  },
  {
    name: "Database",
    says: "is PGlite: one connection, in the data folder, without backups",
    isActive: ({ db }) => db === "embedded",
  },
  {
    name: "Platform",
    says: "sign-in, database API and scheduler imitate Supabase's, and stop with this process",
    isActive: () => true,
  },
];

export const activeStandIns = (stack: StackFacts): StandIn[] =>
  KNOWN.filter(({ isActive }) => isActive(stack)).map(({ name, says }) => ({ name, says }));

/** The environment of the functions with the active stand-ins. */
export const standInSettings = (stack: StackFacts): Environment =>
  Object.assign({}, ...KNOWN.filter(({ isActive }) => isActive(stack)).map(({ settings }) => settings?.(stack)));

/** Keeps `off`; otherwise overrides from the environment are merged into ours. */
function withOwnLimits(given: string | undefined): string {
  if (given === "off") return given;
  return JSON.stringify({ ...OWN_LIMITS, ...(given?.startsWith("{") && JSON.parse(given)) });
}
