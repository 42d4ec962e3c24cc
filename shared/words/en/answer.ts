/** Words around an answer, whatever tool it is of. */
import type { Cut, Refusal } from "../message.ts";

export const refusals = {
  "internal": (): Refusal => ({
    message: "Something went wrong on our side.",
    hint: "Look at what is stored before you try a write again. If it keeps happening, quote the request id.",
  }),
};

interface PlanMissing {
  plan: string;
  required_plan: string;
  organization: string;
  upgrade_url: string;
}

export const answer = {
  /** Why something was refused, when the code says more than this version has words for. */
  unknownRefusal: (code: string): Refusal => ({
    message: `Refused: ${code}.`,
    hint: "The service is being upgraded; try again in a few minutes.",
  }),
  /** A code that this version has no words for. */
  unknownText: (code: string): string => `${code}.`,
  /** Why the text of an answer is not all of it. */
  cut: (cuts: Cut[]): string =>
    `Cut: ${cuts.map(({ key, shown, all }) => `${key} to ${shown} of ${all}`).join(", ")}. ` +
    "structuredContent is whole; narrow the filter or lower limit to read all of it here.",
  tooLong: "Too long as text; see structuredContent.",
  /** Why nobody of an organization may use the connector. */
  planMissing: ({ plan, required_plan, organization, upgrade_url }: PlanMissing): string =>
    `The ${plan} plan of ${organization} does not include AI access; the ${required_plan} plan does. ` +
    `Change it at ${upgrade_url}`,
};
