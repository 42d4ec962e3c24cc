/** The English catalog, without the words of pages. */
import type { Progress } from "../message.ts";
import * as answer from "./answer.ts";
import * as approvals from "./approvals.ts";
import * as attachDocument from "./attach_document.ts";
import * as args from "./arguments.ts";
import * as billChanges from "./bill_changes.ts";
import * as bills from "./bills.ts";
import { chartPage } from "./chart_page.ts";
import * as changeExpenses from "./change_expenses.ts";
import { connector } from "./connector.ts";
import * as contract from "./contract.ts";
import * as draftCancellation from "./draft_cancellation.ts";
import { effects } from "./effects.ts";
import { asking } from "./asking.ts";
import { eventMethods, events } from "./events.ts";
import { fieldName, fields } from "./fields.ts";
import * as forecasting from "./forecast.ts";
import * as getContext from "./get_context.ts";
import * as importExpenses from "./import_expenses.ts";
import * as importQuestions from "./import_questions.ts";
import { leftOut } from "./left_out.ts";
import { LETTERS } from "../letters.ts";
import * as listBills from "./list_bills.ts";
import * as listExpenses from "./list_expenses.ts";
import * as logExpenses from "./log_expenses.ts";
import { mails } from "./mails/mod.ts";
import * as markBillPaid from "./mark_bill_paid.ts";
import * as reconcile from "./reconcile.ts";
import { findings } from "./review_bills.ts";
import { schedule } from "./schedule.ts";
import * as sharing from "./sharing.ts";
import * as spendingChart from "./show_spending_chart.ts";
import * as syncBillAmounts from "./sync_bill_amounts.ts";
import { tools } from "./tools.ts";
import * as undoChange from "./undo_change.ts";
import * as updateSettings from "./update_settings.ts";

export const en = {
  language: "en",
  /** The chart's page, which local/build_chart.ts builds with these words. */
  chartPage,
  /** The connector's name, instructions and refusals. */
  connector,
  /** Title and description of each tool. */
  tools,
  /** Why a tool refuses, by the database's code. */
  refusals: {
    ...answer.refusals,
    ...approvals.refusals,
    ...contract.refusals,
    ...args.refusals,
    ...logExpenses.refusals,
    ...listExpenses.refusals,
    ...changeExpenses.refusals,
    ...bills.refusals,
    ...draftCancellation.refusals,
    ...markBillPaid.refusals,
    ...updateSettings.refusals,
    ...listBills.refusals,
    ...syncBillAmounts.refusals,
    ...importExpenses.refusals,
    ...undoChange.refusals,
    ...sharing.refusals,
    ...spendingChart.refusals,
    ...attachDocument.refusals,
    ...forecasting.refusals,
  },
  /** Information for a person in addition to the result, by code. */
  warnings: {
    ...args.warnings,
    ...logExpenses.warnings,
    ...listExpenses.warnings,
    ...changeExpenses.warnings,
    ...bills.warnings,
    ...draftCancellation.warnings,
    ...approvals.warnings,
    ...markBillPaid.warnings,
    ...updateSettings.warnings,
    ...listBills.warnings,
    ...importExpenses.warnings,
    ...importQuestions.warnings,
    ...sharing.warnings,
    ...spendingChart.warnings,
    ...getContext.warnings,
    ...reconcile.warnings,
    ...attachDocument.warnings,
    ...forecasting.warnings,
  },
  /** Summaries of changes, by tool. */
  changes: {
    ...logExpenses.changes,
    ...changeExpenses.changes,
    ...billChanges.changes,
    ...draftCancellation.changes,
    ...markBillPaid.changes,
    ...sharing.changes,
    ...updateSettings.changes,
    ...syncBillAmounts.changes,
    ...importExpenses.changes,
    ...attachDocument.changes,
  },
  /** In the recipient's language, not the reader's. */
  letters: LETTERS,
  missingInLetter: draftCancellation.missingInLetter,
  afterDraft: draftCancellation.afterDraft,
  /** Events for apps. */
  events,
  eventMethods,
  asking,
  /** Prompts by name. */
  prompts: async () => (await import("./prompts.ts")).prompts,
  /** For skills, besides the prompts. */
  skills: () => import("./skills.ts"),
  /** Texts that tool results share. */
  answer: answer.answer,
  /** Assumptions of the import, by code. */
  assumptions: importExpenses.assumptions,
  /** Questions that the import asks, by mapping argument. */
  questions: importQuestions.questions,
  importing: importExpenses.importing,
  documents: attachDocument.documents,
  forecast: forecasting.forecast,
  /** Lines that the import omits, by kind. */
  leftOut,
  /** Placeholders for missing names. */
  labels: {
    uncategorized: "Uncategorized",
    noCategoryMatched: "Uncategorized: no category matched",
    private: "seen by the owner, managers and viewers whom the owner allowed",
    automatic: "automatic",
    formerMember: "a former member",
    /** The payer of an automatic payment. */
    notNamed: "nobody named",
    site: "the website",
  },
  /** Names of the unnamed groups of `summarize_spending`. */
  groups: {
    category: "Uncategorized",
    tag: "Untagged",
    payee: "No payee",
    member: "Automatic",
    former_member: "Former member",
    rest: "Other",
    salary: "Salary",
    tax_refund: "Tax refund",
    rent: "Rent",
    other: "Other income",
  },
  /** Findings of `review_bills`, by section. */
  findings,
  periodWords: spendingChart.periodWords,
  earlierWords: spendingChart.earlierWords,
  chart: spendingChart.chart,
  /** The progress of a call, by tool; a tool without words reports figures only. */
  progress: { ...importExpenses.progress, ...syncBillAmounts.progress } as Partial<
    Record<string, (reached: Progress) => string>
  >,
  undoneChange: undoChange.undoneChange,
  fetchedFrom: syncBillAmounts.fetchedFrom,
  /** The items that an undo reverted, and the items that it could not. */
  subject: undoChange.subject,
  reversal: undoChange.reversal,
  kept: undoChange.kept,
  /** The effects of a change on records, before and after. */
  effects,
  /** Names of changed fields. */
  fields,
  fieldName,
  /** Approval rules and waiting proposals. */
  approvals: approvals.approvals,
  /** The outcome of querying a provider, by code. */
  outcomes: syncBillAmounts.outcomes,
  /** A bill's schedule. */
  schedule,
  shareNote: listBills.shareNote,
  rateRule: listExpenses.rateRule,
  mails,
  /** Introduces the problem with one of several items in a call. */
  ofItems: ({ failed, all, first, name }: { failed: number; all: number; first: number; name: string }): string =>
    `${failed} of ${all} items cannot be logged, so none was written. Item ${first}, "${name}": `,
};
