/** Reads a new rule from the form of the policy page. */
import type { Approver, NewRule, WritingRole } from "../../../shared/approvals/proposal.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";
import type { Form } from "../page_guards.ts";

export const ROLES: readonly WritingRole[] = ["member", "manager", "owner"];
export const APPROVERS: readonly Approver[] = ["manager", "owner"];

/** The select's value for every tool. */
export const ANY = "any";

const MOST_RECORDS = 50_000;

/** The input, to show again with its errors. */
export interface TypedRule {
  tool: string;
  over: string;
  records: string;
  roles: readonly WritingRole[];
  approver: Approver;
  problems: RuleProblems;
}

/** Errors as sentences. */
export interface RuleProblems {
  tool?: string;
  over?: string;
  records?: string;
  roles?: string;
}

/** Default limit only for currencies of similar value; for others it would be a guess. */
const SUGGESTED_OVER: Readonly<Record<string, string>> = { EUR: "200", USD: "200", GBP: "200", CHF: "200" };

/** Defaults while there are no rules. */
export const suggestedRule = (currency: string): TypedRule => ({
  tool: ANY,
  over: SUGGESTED_OVER[currency] ?? "",
  records: "10",
  roles: ["member"],
  approver: "manager",
  problems: {},
});

export const emptyRule: TypedRule = {
  tool: "",
  over: "",
  records: "",
  roles: ["member"],
  approver: "manager",
  problems: {},
};

/** @param asked.tools the tools that a rule can name. */
export function readRule(
  form: Form,
  { tools, currency, words }: {
    tools: readonly string[];
    currency: string;
    words: PageWords["approvalPolicy"]["problems"];
  },
): { rule: NewRule } | { typed: TypedRule } {
  const typed: TypedRule = {
    tool: form.get("tool") ?? "",
    over: form.get("over") ?? "",
    records: form.get("records") ?? "",
    roles: ROLES.filter((role) => form.get(`role_${role}`) === "on"),
    approver: form.get("approver") === "owner" ? "owner" : "manager",
    problems: {},
  };
  const { problems } = typed;
  if (typed.tool !== ANY && !tools.includes(typed.tool)) problems.tool = words.tool;
  const over = readAmount(typed.over);
  if (over === undefined) problems.over = words.over;
  const records = typed.records === "" ? null : Number(typed.records);
  if (records !== null && !(/^\d{1,5}$/.test(typed.records) && records <= MOST_RECORDS)) {
    problems.records = words.records;
  }
  if (typed.roles.length === 0) problems.roles = words.roles;
  if (over === undefined || Object.keys(problems).length > 0) return { typed };
  return {
    rule: {
      tool: typed.tool === ANY ? null : typed.tool,
      roles: [...typed.roles],
      over,
      currency: over === null ? null : currency,
      over_records: records,
      approver: typed.approver,
    },
  };
}

/** Null if empty, undefined if invalid. Accepts a decimal comma, but no digit grouping. */
function readAmount(text: string): string | null | undefined {
  const written = text.replaceAll(/[\s\u00a0\u202f]/g, "").replace(",", ".");
  if (written === "") return null;
  return /^\d{1,12}(\.\d{1,4})?$/.test(written) ? written : undefined;
}

/**
 * Equal for two equal rules, so submitting a form twice adds only one. Forms identify rules by this key, because each
 * change of the policy assigns new ids.
 */
export const keyOf = ({ tool, roles, over, currency, over_records: records, approver }: NewRule): string =>
  JSON.stringify([tool, [...roles].sort(), over === null ? null : Number(over), currency, records, approver]);
