/** Explains why a credential is rejected. Never repeats the input or the provider's response. */
import type { Credential, Provider } from "../../../../shared/providers/provider.ts";
import type { PageWords } from "../../../../shared/words/page_words.ts";
import type { Trial } from "./try_credential.ts";

/** Problems by field name. */
export type FieldProblems = Readonly<Record<string, string>>;

/** Why the page is shown again: problems with fields, or a general problem. */
export interface Failure {
  status: 400 | 503;
  problems?: FieldProblems;
  message?: string;
}

type ConnectWords = PageWords["connectProvider"];

/** Validates a credential before the provider is queried. */
export function fieldProblems({ fields }: Provider, credential: Credential, words: ConnectWords): FieldProblems {
  return Object.fromEntries(fields.flatMap(({ name, pattern, isSecret }) => {
    const value = credential[name] ?? "";
    // Match the whole value, whether or not the pattern is anchored.
    if (new RegExp(`^(?:${pattern.source})$`, pattern.flags.replace(/[gy]/g, "")).test(value)) return [];
    return [[name, value ? isSecret ? words.incomplete : words.notAValue : words.missing]];
  }));
}

export function trialFailure(
  { name, base, fields }: Provider,
  trial: Exclude<Trial, { outcome: "accepted" }>,
  words: PageWords["trials"],
): Failure {
  const asked = base ? name : undefined;
  switch (trial.outcome) {
    case "auth": {
      const field = fields.find(({ isSecret }) => isSecret) ?? fields[0]!;
      return { status: 400, problems: { [field.name]: words.refused(asked) } };
    }
    case "rate_limited":
      return { status: 503, message: words.busy(asked, trial.retryAfterSeconds) };
    case "timeout":
      return { status: 503, message: words.slow(asked) };
    case "upstream":
      return { status: 503, message: words.unreachable(asked) };
    case "bad_shape":
      return asked ? { status: 503, message: words.unreadable(asked) } : { status: 400, message: words.notAsDescribed };
    case "no_adapter":
    case "unreadable_credential":
    case "defect":
      return { status: 503, message: words.defect };
  }
}
