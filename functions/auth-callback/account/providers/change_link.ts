/** One change of a link, as its owner asked for it. */
import type { LinkAction } from "../../../../shared/db/provider_link_store.ts";
import { AppError } from "../../../../shared/errors.ts";
import type { SignedInUser } from "../../../../shared/http/session.ts";
import type { PageDeps } from "../../page_guards.ts";

/** @throws {AppError} for a link of others, or one that cannot be changed so. One that is gone already is as gone as they wanted it. */
export async function changeLink(
  { providerLinks, clock }: PageDeps,
  { user, linkId, action }: { user: SignedInUser; linkId: string; action: LinkAction },
): Promise<void> {
  // What is no id of ours need not be looked up, and text that the database refuses is none.
  const isLinkId = /^lnk_[0-9a-z]{8,32}$/.test(linkId);
  const { outcome } = !isLinkId
    ? { outcome: "unknown_link" as const }
    : await providerLinks.changeLink({ userId: user.id, linkId, action, at: clock() });
  switch (outcome) {
    case "changed":
      return;
    case "ended":
      if (action === "remove") return;
      throw new AppError("invalid_request", "link removed", { says: ({ connectionRemoved }) => connectionRemoved });
    case "paused_by_plan":
      throw new AppError("invalid_request", "link paused by the plan", {
        says: ({ connectionPausedByPlan }) => connectionPausedByPlan,
      });
    case "not_owner":
      throw new AppError("forbidden", "not the owner", { says: ({ onlyOwnerChanges }) => onlyOwnerChanges });
    case "unknown_link":
      throw new AppError("invalid_request", "unknown link", { says: ({ unknownConnection }) => unknownConnection });
  }
}
