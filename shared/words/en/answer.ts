/** Texts that tool results share, whatever the tool. */
import type { Cut, Refusal } from "../message.ts";

export const refusals = {
  "internal": (): Refusal => ({
    message: "Something went wrong on our side.",
    hint: "Check whether a write went through before you retry it. If it keeps happening, quote the request id.",
  }),
};

interface PlanMissing {
  plan: string;
  required_plan: string;
  organization: string;
  upgrade_url: string;
  /** The person who can change it; absent if the caller can. */
  owner?: string | null | undefined;
}

export const answer = {
  /** A refusal whose code has no words in this version. */
  unknownRefusal: (code: string): Refusal => ({
    message: `Refused: ${code}.`,
    hint: "The service is being upgraded; try again in a few minutes.",
  }),
  /** A code that has no words in this version. */
  unknownText: (code: string): string => `${code}.`,
  /** Why the text of a result is incomplete. */
  cut: (cuts: Cut[]): string =>
    `Shortened: ${cuts.map(({ key, shown, all }) => `${shown} of ${all} ${key}`).join(", ")} shown. ` +
    "structuredContent is complete; narrow the filter or lower limit to read all of it here.",
  tooLong: "Too long as text; see structuredContent.",
  /** Why the members of an organization may not use the connector. */
  planMissing: ({ plan, required_plan, organization, upgrade_url, owner }: PlanMissing): string =>
    `The ${plan} plan of ${organization} does not include AI access; the ${required_plan} plan does. ` +
    (owner ? `Only its owner, ${owner}, can change it, at ${upgrade_url}` : `Change it at ${upgrade_url}`),
  /** Why a read-only app may not write. */
  readOnly: ({ organization, url }: { organization: string; url: string }): string =>
    `You let this app read the books of ${organization}, but not change them. You can allow changes at ${url}`,
  /** @param deleting.deletes_on YYYY-MM-DD */
  deleting: ({ organization, deletes_on, url }: { organization: string; deletes_on: string; url: string }): string =>
    `The books of ${organization} will be deleted on ${deletes_on}. The owner can cancel the deletion at ${url}`,
};
