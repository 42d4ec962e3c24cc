/** Pauses, resumes or removes a link, at its owner's request. */
import type { LinkAction } from "../../../../shared/db/provider_link_store.ts";
import { AppError } from "../../../../shared/errors.ts";
import type { SignedInUser } from "../../../../shared/http/session.ts";
import type { PageDeps } from "../../page_guards.ts";

/**
 * @throws {AppError} for another person's link, or an impossible change. Removing a link that is already gone succeeds.
 */
export async function changeLink(
  { providerLinks, clock }: PageDeps,
  { user, linkId, action }: { user: SignedInUser; linkId: string; action: LinkAction },
): Promise<void> {
  // Malformed ids are not looked up; the database would reject them.
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
