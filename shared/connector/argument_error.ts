/**
 * Turns what the schema objects to into an error that tells a model how to call again: which field, what is wrong
 * with it, and what would be right, in the words of the contract.
 */
import type { z } from "zod";
import { formHint } from "./form_hint.ts";
import type { JsonSchema } from "./schema.ts";

export interface ArgumentError {
  code: "invalid_argument";
  message: string;
  /** Path of the field, `items[0].amount`; absent when the arguments as a whole are meant. */
  field?: string;
  hint?: string;
  /** Always true: the same call with the field put right will do. */
  retryable: true;
  details?: { problems: Problem[] };
}

interface Problem {
  field?: string;
  message: string;
  hint?: string;
}

type Issue = z.core.$ZodIssue;

/** How many problems one answer names; a call with more is best written anew. */
const MAX_PROBLEMS = 10;

/** @param issues at least one, in the order of the schema; @param schema what the arguments were judged by. */
export function explainIssues(issues: readonly Issue[], schema: JsonSchema): ArgumentError {
  const problems = issues.slice(0, MAX_PROBLEMS).map((issue) => explain(issue, schema));
  return {
    code: "invalid_argument",
    ...problems[0]!,
    retryable: true,
    ...(problems.length > 1 && { details: { problems } }),
  };
}

function explain(issue: Issue, schema: JsonSchema): Problem {
  const node = nodeAt(schema, issue.path);
  const field = issue.path.map((step) => typeof step === "number" ? `[${step}]` : `.${String(step)}`).join("").slice(1);
  const subject = field || "The arguments";
  const siblings = Object.keys(nodeAt(schema, issue.path.slice(0, -1))?.properties ?? {});
  const problem = (message: string, hint = formHint(node, issue.input, siblings) ?? node?.description): Problem => ({
    ...(field && { field }),
    message: `${subject} ${message}.`,
    ...(hint && { hint }),
  });

  if (issue.code === "custom") return problem("is there twice"); // uniqueItems is the only rule that zod adds itself
  if (node?.enum && issue.code !== "invalid_type") return problem(`must be one of: ${node.enum.join(", ")}`);
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === null) return problem("must not be null", "Leave a field out when there is nothing to say.");
      if (issue.input === undefined) return problem("is required");
      return problem(`must be ${article(node?.type ?? issue.expected)}`);
    case "unrecognized_keys":
      return {
        field: [field, issue.keys[0]].filter(Boolean).join("."),
        message: `${subject} cannot have ${issue.keys.map((key) => `"${key}"`).join(", ")}.`,
        hint: `Known fields: ${Object.keys(node?.properties ?? {}).join(", ")}.`,
      };
    case "invalid_format":
      return problem("does not have the right form");
    case "too_small":
      return problem(limit(issue.origin, "at least", Number(issue.minimum), issue.inclusive));
    case "too_big":
      return problem(limit(issue.origin, "at most", Number(issue.maximum), issue.inclusive));
    default:
      return problem("is not valid");
  }
}

function nodeAt(schema: JsonSchema, path: readonly PropertyKey[]): JsonSchema | undefined {
  let node: JsonSchema | undefined = schema;
  for (const step of path) node = typeof step === "number" ? node?.items : node?.properties?.[String(step)];
  return node;
}

const UNITS: Record<string, string> = { string: "characters", array: "items", object: "fields" };

function limit(origin: string, bound: "at least" | "at most", value: number, isInclusive = true): string {
  const unit = UNITS[origin];
  if (unit) return `must have ${bound} ${value} ${value === 1 ? unit.slice(0, -1) : unit}`;
  return isInclusive ? `must be ${bound} ${value}` : `must be ${bound === "at least" ? "more" : "less"} than ${value}`;
}

const article = (type: string) => /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
