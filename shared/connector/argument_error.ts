/**
 * Turns schema violations into facts that help a model correct the call: the field, the fault and the valid values.
 * The catalog contains the wording (`shared/words/en/contract.ts`).
 */
import type * as z from "zod";
import type { Limit, RefusalFacts, Unit } from "../words/message.ts";
import type { RefusalCode } from "../words/words.ts";
import { type FormHint, formHint } from "./form_hint.ts";
import type { JsonSchema } from "./schema.ts";
import { isChange } from "./understand.ts";

/** A problem with the arguments themselves; the same call succeeds once the field is corrected. */
export interface ArgumentError extends RefusalFacts {
  code: RefusalCode & (`invalid_argument.${string}` | `needs_answer.${string}`);
}

type Issue = z.core.$ZodIssue;

/** The maximum number of problems in one answer. */
const MAX_PROBLEMS = 10;

/** @param issues at least one, in schema order @param schema validated the arguments */
export function explainIssues(issues: readonly Issue[], schema: JsonSchema): ArgumentError {
  const problems = issues.slice(0, MAX_PROBLEMS).map((issue) => explain(issue, schema));
  const [first] = problems as [ArgumentError];
  return problems.length > 1 ? { ...first, params: { ...first.params, details: { problems } } } : first;
}

function explain(issue: Issue, schema: JsonSchema): ArgumentError {
  const node = nodeAt(schema, issue.path);
  // The arguments object itself has no name.
  const subject = issue.path.map((step) => typeof step === "number" ? `[${step}]` : `.${String(step)}`).join("").slice(
    1,
  );
  const siblings = Object.keys(nodeAt(schema, issue.path.slice(0, -1))?.properties ?? {});
  const problem = (code: ArgumentError["code"], facts: Record<string, unknown> = {}): ArgumentError => {
    const hint: FormHint | undefined = formHint(node, issue.input, siblings) ??
      (node?.description ? { form: "described", description: node.description } : undefined);
    return {
      code,
      ...(subject && { field: subject }),
      params: { ...(subject && { subject }), ...(hint && { hint }), ...facts },
    };
  };

  // uniqueItems is the only custom zod rule.
  if (issue.code === "custom") return problem("invalid_argument.repeated_item");
  if (node?.enum && issue.code !== "invalid_type") {
    return problem("invalid_argument.not_one_of", { options: node.enum.map(String), sent: issue.input });
  }
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === null) {
        const parent = nodeAt(schema, issue.path.slice(0, -1));
        return problem("invalid_argument.null", { empty: isChange(parent) ? emptyOf(node) : undefined });
      }
      if (issue.input === undefined) return problem("invalid_argument.required");
      return problem("invalid_argument.wrong_type", { type: node?.type ?? issue.expected });
    case "unrecognized_keys":
      return {
        code: "invalid_argument.unknown_fields",
        field: [subject, issue.keys[0]].filter(Boolean).join("."),
        params: { ...(subject && { subject }), unknown: issue.keys, known: Object.keys(node?.properties ?? {}) },
      };
    case "invalid_format":
      return problem("invalid_argument.wrong_form");
    case "too_small":
      return outOfBounds(issue.origin, { bound: "least", value: Number(issue.minimum), is_inclusive: issue.inclusive });
    case "too_big":
      return outOfBounds(issue.origin, { bound: "most", value: Number(issue.maximum), is_inclusive: issue.inclusive });
    default:
      return problem("invalid_argument.not_valid");
  }

  function outOfBounds(origin: string, limit: Limit): ArgumentError {
    const unit = UNITS[origin];
    return unit
      ? problem("invalid_argument.wrong_length", { ...limit, unit })
      : problem("invalid_argument.out_of_bounds", { is_inclusive: true, ...limit });
  }
}

/** The JSON value that clears a field. */
function emptyOf(node: JsonSchema | undefined): string | undefined {
  if (node?.type === "array") return node.minItems ? undefined : "[]";
  const isText = node?.type === "string" && !node.enum && !node.minLength;
  return isText && (!node.pattern || new RegExp(node.pattern as string).test("")) ? '""' : undefined;
}

function nodeAt(schema: JsonSchema, path: readonly PropertyKey[]): JsonSchema | undefined {
  let node: JsonSchema | undefined = schema;
  for (const step of path) node = typeof step === "number" ? node?.items : node?.properties?.[String(step)];
  return node;
}

const UNITS: Record<string, Unit> = { string: "character", array: "item", object: "field" };
