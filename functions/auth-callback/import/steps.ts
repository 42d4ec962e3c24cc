/** The steps of an import, run for the signed-in person, with their result types. */
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import type { Step } from "../../../shared/import/import_work.ts";
import type { LeftOut } from "../../../shared/import/statement.ts";
import { type Tabs, tabsOf } from "../../../shared/pages/tabs.tsx";
import type { RefusalFacts } from "../../../shared/words/message.ts";
import type { PageDeps } from "../page_guards.ts";

/** The result of step `open`. */
export interface OpenImport {
  import_id: string;
  state: "waiting" | "reading" | "matching" | "ready" | "committed";
  account?: { name: string };
  /** Size of the file. */
  name?: string;
  /** Progress in rows; staging a row and matching it count as one each. */
  done: number;
  total: number;
}

/**
 * Why an import can't be shown: it belongs to another person, the reader lost access to the books, or its link already
 * received a file.
 */
export type UploadRefusal = "unknown" | "refused" | "used";

export interface Found {
  user: SignedInUser;
  organization: { id: string; name: string };
  tabs: Tabs | undefined;
  opened: OpenImport;
  step: Step;
}

/** @throws {AppError} as the database call does. */
export async function openImport(
  c: AppContext,
  deps: PageDeps,
  user: SignedInUser,
): Promise<Found | { refusal: UploadRefusal }> {
  const importId = c.req.param("id") ?? "";
  // Malformed ids are not looked up.
  if (!/^imp_[0-9a-z]{8,32}$/.test(importId)) return { refusal: "unknown" };
  const at = deps.clock();
  const first = await deps.imports.open({ userId: user.id, importId, at });
  if (first.outcome !== "ok") return { refusal: first.outcome };
  const { ok, data, error, context } = first.result;
  if (!ok) {
    const refusal = refusalOf(error!);
    if (refusal) return { refusal };
    throw new AppError("internal", `the import is not opened: ${error!.code}`);
  }
  const organization = context!.organization!;
  const step: Step = async (args) => {
    const answer = await deps.imports.runStep({
      userId: user.id,
      organizationId: organization.id,
      arguments: { import_id: importId, ...args },
      at: deps.clock(),
    });
    if (answer.outcome === "ok") return answer.result;
    throw new AppError("forbidden", "refused meanwhile", { says: ({ uploadRefused }) => uploadRefused });
  };
  return {
    user,
    organization,
    tabs: tabsOf(organization.id, first.state, "books"),
    opened: data?.import as OpenImport,
    step,
  };
}

/**
 * Undefined for a problem with the file.
 * @throws {AppError} `unavailable` while another request works on the import for longer than a page waits.
 */
export function refusalOf({ code }: RefusalFacts): UploadRefusal | undefined {
  if (code === "busy") {
    throw new AppError("unavailable", "the import is being worked on", { headers: { "retry-after": "5" } });
  }
  if (code === "not_found.import") return "unknown";
  return code === "invalid_argument.upload_used" ? "used" : undefined;
}

interface Effect {
  name: string;
  amount: string;
  currency: string;
  was?: string;
}

/** The result of `import_expenses` with only an id. */
export interface Preview {
  rows_ok: number;
  rows_bad_count: number;
  /** Rows that the books already contain. */
  duplicates_count: number;
  /** Other writes: paid dates, corrected estimates, and expenses removed as transfers. */
  pays?: Effect[];
  corrects?: Effect[];
  removes?: Effect[];
  left_out: { kind: LeftOut | "other_half"; count: number }[];
  questions: unknown[];
  /** Set when there are more than the listed ones. */
  questions_count?: number;
  totals: Record<string, string>;
  /** Counts the readable rows; empty if there are none. */
  period: { from?: string; to?: string };
  sample: { date: string; name: string; payee?: string; amount: string; currency: string; is_refund?: true }[];
}

/** Why a readable file has no preview: all its rows are in closed months, or no row is readable. */
export type NoPreview = { closed?: { month: string; to: string } };

export async function previewOf({ step }: Found): Promise<Preview | NoPreview> {
  const { ok, data, error } = await step({});
  if (ok) return data?.preview as Preview;
  if (error!.code === "invalid_argument.no_row_readable") return {};
  if (error!.code === "month_closed.of_import") return { closed: error!.params as NoPreview["closed"] };
  refusalOf(error!);
  throw new AppError("internal", `no preview: ${error!.code}`);
}
