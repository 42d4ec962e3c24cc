/** @jsxImportSource hono/jsx */
/** Explains why a bill can't be connected, and names the person who can connect it or the missing step. */
import type { ConnectionRefusal } from "../../../../shared/db/provider_link_store.ts";
import type { AppContext } from "../../../../shared/http/app.ts";
import type { SignedInUser } from "../../../../shared/http/session.ts";
import { Name } from "../../../../shared/pages/components.tsx";
import { type Problem, renderProblem } from "../../../../shared/pages/error_page.tsx";
import { createUrls } from "../../../../shared/urls.ts";
import type { PageWords } from "../../../../shared/words/page_words.ts";
import type { PageDeps } from "../../page_guards.ts";

export function renderRefusal(
  c: AppContext,
  { config }: PageDeps,
  { user, refusal }: { user: SignedInUser; refusal: ConnectionRefusal },
): Promise<Response> {
  const { connectRefusals, problems, frame } = c.get("reader").words;
  const { status, ...problem } = describe(refusal, { words: connectRefusals, config });
  const next = { label: frame.goToAccount, href: "/account" };
  return renderProblem(c, { config, user, status, problem: { changed: problems.unchanged, next, ...problem } });
}

function describe(
  refusal: ConnectionRefusal,
  { words, config }: { words: PageWords["connectRefusals"]; config: PageDeps["config"] },
): Pick<Problem, "title" | "message"> & Partial<Problem> & { status: number } {
  if (refusal.outcome === "unknown_bill") return { status: 404, ...words.unknownBill };
  const bill = <Name>{refusal.bill}</Name>;
  const organization = <Name>{refusal.organization}</Name>;
  switch (refusal.outcome) {
    case "not_owner": {
      const { title, message } = words.notOwner;
      return { status: 403, title, message: message(bill, organization, <Name>{refusal.owner_email}</Name>) };
    }
    case "ended":
      return { status: 409, title: words.ended.title, message: words.ended.message(bill) };
    case "not_variable":
      return { status: 409, title: words.notVariable.title, message: words.notVariable.message(bill) };
    case "feature_not_in_plan": {
      const { title, message, seePlans } = words.notInPlan;
      const plans = { next: { label: seePlans, href: createUrls(config).plans(refusal.organization_id) } };
      return { status: 403, title, message: message(bill, organization), ...plans };
    }
  }
}
