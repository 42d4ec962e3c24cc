/** @jsxImportSource hono/jsx */
/** Why a bill cannot be connected, by whom it can be, or what has to come first. */
import type { ConnectionRefusal } from "../../../../shared/db/provider_link_store.ts";
import type { AppContext } from "../../../../shared/http/app.ts";
import type { SignedInUser } from "../../../../shared/http/session.ts";
import { Name } from "../../../../shared/pages/components.tsx";
import { type Problem, renderProblem } from "../../../../shared/pages/error_page.tsx";
import { createUrls } from "../../../../shared/urls.ts";
import type { PageDeps } from "../../page_guards.ts";

export function renderRefusal(
  c: AppContext,
  { config }: PageDeps,
  { user, refusal }: { user: SignedInUser; refusal: ConnectionRefusal },
): Promise<Response> {
  const { status, ...problem } = describe(refusal, config);
  return renderProblem(c, { config, user, status, problem: { changed: UNCHANGED, next: ACCOUNT, ...problem } });
}

const UNCHANGED = "Nothing was changed.";
const ACCOUNT = { label: "Go to your account", href: "/account" };

function describe(
  refusal: ConnectionRefusal,
  config: PageDeps["config"],
): Omit<Problem, "changed" | "next"> & Partial<Problem> & { status: number } {
  if (refusal.outcome === "unknown_bill") {
    return {
      status: 404,
      title: "We do not know that bill",
      message: "It may have been deleted, or it belongs to an organization that you are not in, or you are signed in " +
        "with another address. Ask your assistant for a new link.",
    };
  }
  const bill = <Name>{refusal.bill}</Name>;
  const organization = <Name>{refusal.organization}</Name>;
  switch (refusal.outcome) {
    case "not_owner":
      return {
        status: 403,
        title: "Only the owner can connect a bill",
        message: (
          <>
            The owner of {organization} is{" "}
            <Name>{refusal.owner_email}</Name>. Send them the address of this page: it connects {bill} for everybody.
          </>
        ),
      };
    case "ended":
      return {
        status: 409,
        title: "This bill has ended",
        message: <>Nothing of {bill} falls due any more, so there is no amount to look up.</>,
      };
    case "not_variable":
      return {
        status: 409,
        title: "This bill is the same every time",
        message: (
          <>
            There is nothing to look up for{" "}
            {bill}. If its amount changes, tell your assistant to make it variable, then open this page again.
          </>
        ),
      };
    case "feature_not_in_plan":
      return {
        status: 403,
        title: "The plan does not include this",
        message: (
          <>
            Amounts of bills are looked up for organizations on the Team plan, which {organization}{" "}
            is not on now. Meanwhile the amount of {bill} is entered by hand.
          </>
        ),
        ...(config.pricingUrl &&
          { next: { label: "See the plans", href: createUrls(config).plans(refusal.organization_id) } }),
      };
  }
}
