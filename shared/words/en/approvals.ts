/** Words of pages and mails for proposals and for the rules that require approval. */
import type { Refusal } from "../message.ts";
import type { Reason } from "../../approvals/proposal.ts";
import { and, count, money } from "./phrases.ts";

/** A tool's action, as the beginning of a rule. */
const WRITES = {
  log_expenses: "Adding expenses",
  import_expenses: "Adding expenses from a file",
  update_expenses: "Changing expenses",
  delete_records: "Deleting expenses or bills",
  add_bill: "Adding a bill",
  update_bill: "Changing a bill",
  mark_bill_paid: "Recording the payment of a bill",
  settle_up: "Settling up shared costs",
  update_settings: "Changing settings, categories or budgets",
  undo_change: "Undoing a change",
};

/** A limit in the reader's words. */
interface Limits {
  /** "€200.00"; undefined without a limit. */
  over: string | undefined;
  records: number | null;
}

function limits({ over, records }: Limits): string {
  const parts = [
    ...(over === undefined ? [] : [`over ${over}`]),
    ...(records === null ? [] : [`more than ${count(records, "record")}`]),
  ];
  return parts.length > 0 ? `, ${parts.join(" or ")} in 24 hours` : "";
}

export const approvals = {
  /** Tools' actions by name, for the choice in a form and at the beginning of a rule. */
  writes: WRITES,
  any: "Any change to the books",
  anyChange: "Any change",
  /** In a rule: the author of a change. */
  by: { owner: "the owner", manager: "managers", member: "members" },
  /** In a rule: the approvers. */
  ask: { manager: "a manager or the owner", owner: "the owner" },
  /** "Any change by members, over €200.00 in 24 hours, needs approval from a manager or the owner." */
  rule: ({ what, by, ask, ...limit }: Limits & { what: string; by: readonly string[]; ask: string }): string =>
    `${what} by ${and(by)}${limits(limit)}${limits(limit) && ","} needs approval from ${ask}.`,
  /** After "wants to". @param expenses their number, if the proposal contains nothing else */
  act: ({ tool, expenses }: { tool: string; expenses: number | undefined }): string => {
    const some = expenses === undefined ? undefined : count(expenses, "expense");
    switch (tool) {
      case "log_expenses":
        return `add ${some ?? "expenses"}`;
      case "import_expenses":
        return "add expenses from a file";
      case "update_expenses":
        return `change ${some ?? "expenses"}`;
      case "delete_records":
        return `delete ${some ?? "expenses or bills"}`;
      case "add_bill":
        return "add a bill";
      case "update_bill":
        return "change a bill";
      case "mark_bill_paid":
        return "record the payment of a bill";
      case "settle_up":
        return "settle up shared costs";
      case "update_settings":
        return "change settings, categories or budgets";
      case "undo_change":
        return "undo a change";
      default:
        return "change the books";
    }
  },
  /** The effect of importing a file, in place of the names of its expenses. @param sums "€1,200.00" per currency */
  importing: ({ count: written, shown, sums }: { count: number; shown?: string; sums: readonly string[] }): string =>
    `${count(written, "expense", undefined, shown)} from a file${sums.length > 0 ? `, ${and(sums)} in total` : ""}`,
  /** Why it waits. */
  reasons: {
    any: "This always needs approval, whatever the amount.",
    /** @param number formats a count */
    records: (
      { limit, records }: { limit: number; records: number },
      number: (count: number) => string = String,
    ): string =>
      `Together with everything in the previous 24 hours, this makes ${
        count(records, "record", undefined, number(records))
      }. More than ${number(limit)} need approval.`,
    amount: ({ limit, total }: { limit: string; total: string }): string =>
      `Together with everything in the previous 24 hours, this comes to ${total}. Anything over ${limit} needs approval.`,
    unconvertible: ({ limit, currencies }: { limit: string; currencies: readonly string[] }): string =>
      `There’s no exchange rate for ${and(currencies)}, so this counts as more than the limit of ${limit}.`,
  },
};

/** Why a write waits, with a sentence for each different reason. */
const why = (reasons: readonly Reason[]): string => [...new Set(reasons.map(told))].join(" ");

function told(reason: Reason): string {
  const { reasons } = approvals;
  switch (reason.reason) {
    case "any":
      return reasons.any;
    case "records":
      return reasons.records(reason);
    case "amount": {
      const { limit, total, currency } = reason;
      return reasons.amount({ limit: money({ amount: limit, currency }), total: money({ amount: total, currency }) });
    }
    case "unconvertible": {
      const { limit, currency, currencies } = reason;
      return reasons.unconvertible({ limit: money({ amount: limit, currency }), currencies });
    }
  }
}

interface Waiting {
  asked: string[];
  reasons: Reason[];
  details: { proposal_id: string; expires_at: string };
}

/** Why somebody's assistant may not answer a proposal. */
const NOT_ALLOWED = {
  page: {
    message: "This has to be approved or rejected on its page: assistants can't do it here. Nothing was changed.",
    hint: "Give the user the link in details.url. The owner can let assistants approve, on the approvals page.",
  },
  own: {
    message: "The user asked for this, so somebody else has to approve it. Nothing was changed.",
    hint: 'The user can withdraw it: call with decision "withdraw".',
  },
  others: {
    message: "Only the person who asked for this can withdraw it. Nothing was changed.",
    hint: 'To turn it down, call with decision "refuse".',
  },
  owner: { message: "Only the owner can approve or reject this. Nothing was changed." },
  manager: { message: "Only a manager or the owner can approve or reject this. Nothing was changed." },
} satisfies Record<string, Refusal>;

export const refusals = {
  "awaiting_approval": ({ asked, reasons, details }: Waiting): Refusal => ({
    message:
      (asked.length > 0
        ? `This needs approval. Nothing has been written yet: ${and(asked)} ${
          asked.length === 1 ? "was" : "were"
        } asked by email. `
        : "This needs approval. Nothing has been written yet, and nobody else can approve it: the user can, on the page at details.url. ") +
      why(reasons),
    hint: `It will be written once somebody approves it, and expires on ${
      details.expires_at.slice(0, 10)
    }. Don't call again, and don't say it is done.`,
  }),
  "too_many_proposals": ({ most }: { most: number }): Refusal => ({
    message: `This person already has ${most} changes waiting for approval. Nothing was written.`,
    hint: "Wait until some are decided, or withdraw some with decide_proposal.",
  }),
  "not_found.proposal": ({ id, organization }: { id: string; organization: string }): Refusal => ({
    message: `There is no proposal ${id} in ${organization}.`,
    hint: "get_context lists the pending proposals.",
  }),
  "not_decided.unknown": (): Refusal => ({ message: "That proposal no longer exists. Nothing was changed." }),
  "not_decided.already": ({ state }: { state: string }): Refusal => ({
    message: state === "stale"
      ? "This proposal was approved before, but the books had changed since. Nothing was changed."
      : `This proposal has already been ${state === "refused" ? "rejected" : state}. Nothing was changed.`,
  }),
  "not_decided.expired": (): Refusal => ({
    message: "This proposal has expired. Nothing was changed.",
    hint: "The person who asked for it can ask again.",
  }),
  "not_decided.changed": (): Refusal => ({
    message: "The hash doesn't belong to this proposal. Nothing was changed.",
    hint: "Read get_context again, and show the user what the proposal changes.",
  }),
  "not_decided.not_allowed": ({ why }: { why: keyof typeof NOT_ALLOWED }): Refusal => NOT_ALLOWED[why],
  "not_decided.stale": (): Refusal => ({
    message: "The books have changed since this was proposed, so it was not applied. Nothing was written.",
    hint: "The person who asked for it can ask again.",
  }),
};

export const warnings = {
  "needs_approval": ({ reasons }: { reasons: Reason[] }): string =>
    `This needs approval: without dry_run it would wait until somebody approves it. ${why(reasons)}`,
};
