/** What was wrong with a credential, in words for the one who typed it. None of them repeats what was typed, or what a provider answered. */
import { inWords } from "../../../../shared/http/quotas.ts";
import type { Credential, Provider } from "../../../../shared/providers/provider.ts";
import type { Trial } from "./try_credential.ts";

/** By name of the field. */
export type FieldProblems = Readonly<Record<string, string>>;

/** Why the page is shown again: at fields, or as a whole. */
export interface Failure {
  status: 400 | 503;
  problems?: FieldProblems;
  message?: string;
}

/** What cannot be a credential of the provider, before it is asked. */
export function fieldProblems({ fields }: Provider, credential: Credential): FieldProblems {
  return Object.fromEntries(fields.flatMap(({ name, pattern }) => {
    const value = credential[name] ?? "";
    // The pattern says what is well-formed from the first character to the last, whether or not it is anchored.
    if (new RegExp(`^(?:${pattern.source})$`, pattern.flags.replace(/[gy]/g, "")).test(value)) return [];
    return [[
      name,
      value
        ? "This does not look like a whole one. Copy it again, from its first character to its last."
        : "Please fill this in.",
    ]];
  }));
}

export function trialFailure(
  { name, base, fields }: Provider,
  trial: Exclude<Trial, { outcome: "accepted" }>,
): Failure {
  switch (trial.outcome) {
    case "auth": {
      const field = fields.find(({ isSecret }) => isSecret) ?? fields[0]!;
      const problem =
        `${base ? name : "The server at this address"} does not accept it. It may be mistyped or expired, ` +
        "or it may not be allowed to read what was charged.";
      return { status: 400, problems: { [field.name]: problem } };
    }
    case "rate_limited": {
      const wait = trial.retryAfterSeconds
        ? `It works again in ${inWords(trial.retryAfterSeconds)}.`
        : "Try again later.";
      return { status: 503, message: `${whom({ name, base })} was asked too often and wants us to wait. ${wait}` };
    }
    case "timeout":
      return { status: 503, message: `${whom({ name, base })} did not answer in time. Try again in a few minutes.` };
    case "upstream":
      return {
        status: 503,
        message: `${whom({ name, base })} cannot be reached right now. Try again in a few minutes.`,
      };
    case "bad_shape":
      return base
        ? {
          status: 503,
          message: `${name} answers something that we do not understand, so its amounts cannot be fetched for now.`,
        }
        : { status: 400, message: "What was found at the address is not what is described below." };
    case "no_adapter":
    case "unreadable_credential":
    case "defect":
      return { status: 503, message: "Something went wrong on our side. It was nothing that you did." };
  }
}

const whom = ({ name, base }: Pick<Provider, "name" | "base">) => base ? name : "The server at this address";
