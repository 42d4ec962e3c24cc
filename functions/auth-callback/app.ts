/** Routes of the identity pages. */
import { etag } from "hono/etag";
import { createApprovalStore } from "../../shared/db/approval_store.ts";
import { createActivityStore } from "../../shared/db/activity_store.ts";
import { createBooksStore } from "../../shared/db/books_store.ts";
import { createCalendarStore } from "../../shared/db/calendar_store.ts";
import { createExportStore } from "../../shared/db/export_store.ts";
import { createDeletionStore } from "../../shared/db/deletion_store.ts";
import { createImportStore } from "../../shared/db/import_store.ts";
import { createPageToolStore } from "../../shared/db/page_tool_store.ts";
import { createProviderLinkStore } from "../../shared/db/provider_link_store.ts";
import { createIdentityStore } from "../../shared/db/identity_store.ts";
import { createMembersStore } from "../../shared/db/members_store.ts";
import type { Deps } from "../../shared/deps.ts";
import { admission } from "../../shared/http/admission.ts";
import { type App, createApp } from "../../shared/http/app.ts";
import { ICON } from "../../shared/pages/icon.ts";
import { pageErrors } from "../../shared/pages/error_page.tsx";
import { readers } from "../../shared/pages/reader.ts";
import { PROVIDERS, type Registry } from "../../shared/providers/registry.ts";
import type { Languages } from "../../shared/words/words.ts";
import { postAccount, showAccount } from "./account/account.ts";
import { showActivity } from "./activity/activity.ts";
import { postUndo } from "./activity/undo.ts";
import { showPlan } from "./account/plan_page.tsx";
import { postDisconnect, showDisconnect } from "./account/disconnect.tsx";
import { postAddress, showAddress } from "./account/address/change.tsx";
import { postConfirmation, showConfirmation } from "./account/address/confirm.tsx";
import { postConnect, showConnect, showConnected } from "./account/providers/connect.ts";
import { postRemove, showRemove } from "./account/providers/remove.tsx";
import { postReminderEmail, showReminderEmail } from "./account/reminder_email.tsx";
import { postApprovals, showApprovals } from "./approvals/policy.ts";
import { postProposal, showProposal } from "./approvals/proposal.ts";
import { postBooks, showBooks } from "./books/books.ts";
import { postDeleteAccount, showDeleteAccount } from "./deletion/delete_account.tsx";
import { postDeleteOrganization, showDeleteOrganization } from "./deletion/delete_organization.tsx";
import { postCalendar } from "./calendar/change_calendar.tsx";
import { getCalendar } from "./calendar/feed.ts";
import { plainErrors } from "./calendar/plain_errors.ts";
import { getExpenseFile } from "./download/expense_file.ts";
import { postExport, showExport } from "./export/export.ts";
import { postUpload, showUpload } from "./import/upload.ts";
import { postHandOver, showHandOver } from "./members/hand_over.tsx";
import { postInvitation, showInvitation } from "./members/invitation.tsx";
import { postMembers, showMembers } from "./members/members.ts";
import { postRemoveMember, showRemoveMember } from "./members/remove_member.tsx";
import { postNewOrganization, showNewOrganization } from "./organizations/new_organization.tsx";
import { finishSignIn, postCallback } from "./sign_in/callback.ts";
import { showFrontPage } from "./front_page/front_page.tsx";
import { postLogin, showLogin } from "./sign_in/login.ts";
import { postLogout } from "./sign_in/logout.ts";
import { postOnboarding, showOnboarding } from "./onboarding/onboarding.ts";
import type { PageDeps } from "./page_guards.ts";
import { postUnsubscribe, showUnsubscribe } from "./unsubscribe/unsubscribe.ts";

export function createAuthCallbackApp(deps: Deps, providers: Registry = PROVIDERS, languages?: Languages): App {
  const app = createApp("auth-callback", deps, plainErrors(pageErrors(deps.config)));
  app.use(readers(languages));
  app.use(admission(deps.config));
  const pages: PageDeps = {
    ...deps,
    store: createIdentityStore(deps.database),
    providerLinks: createProviderLinkStore(deps.database),
    calendars: createCalendarStore(deps.database),
    imports: createImportStore(deps.database),
    members: createMembersStore(deps.database),
    activity: createActivityStore(deps.database),
    tools: createPageToolStore(deps.database),
    exports: createExportStore(deps.database),
    deletions: createDeletionStore(deps.database),
    approvals: createApprovalStore(deps.database),
    books: createBooksStore(deps.database),
    providers,
  };

  app.get("/", showFrontPage(pages));
  // Browsers request it on addresses that are not our pages; our own pages inline it.
  app.get(
    "/favicon.ico",
    (c) => c.body(ICON, 200, { "content-type": "image/svg+xml", "cache-control": "max-age=86400" }),
  );
  app.get("/login", showLogin(pages)).post(postLogin(pages));
  app.get("/auth/callback", finishSignIn(pages)).post(postCallback(pages));
  app.post("/logout", postLogout(pages));
  app.get("/onboarding", showOnboarding(pages)).post(postOnboarding(pages));
  app.get("/account", showAccount(pages)).post(postAccount(pages));
  // The form is on the account page, where signing in again leads by this address.
  app.get("/account/calendar", (c) => c.redirect("/account", 303)).post(postCalendar(pages));
  app.get("/account/expenses.csv", getExpenseFile(pages));
  app.get("/account/activity", showActivity(pages)).post(postUndo(pages));
  app.get("/account/import/:id", showUpload(pages)).post(postUpload(pages));
  app.get("/account/disconnect", showDisconnect(pages)).post(postDisconnect(pages));
  app.get("/account/providers/connect", showConnect(pages)).post(postConnect(pages));
  app.get("/account/providers/connected", showConnected(pages));
  app.get("/account/providers/remove", showRemove(pages)).post(postRemove(pages));
  app.get("/account/email", showAddress(pages)).post(postAddress(pages));
  app.get("/account/email/confirm", showConfirmation(pages)).post(postConfirmation(pages));
  app.get("/account/reminder-email", showReminderEmail(pages)).post(postReminderEmail(pages));
  app.get("/invitation", showInvitation(pages)).post(postInvitation(pages));
  // A parameter, since Hono's fast router takes no name beside the parameter of the paths below.
  app.get("/organizations/:id", showNewOrganization(pages)).post(postNewOrganization(pages));
  app.get("/organizations/:id/members", showMembers(pages)).post(postMembers(pages));
  app.get("/organizations/:id/members/remove", showRemoveMember(pages)).post(postRemoveMember(pages));
  app.get("/organizations/:id/hand-over", showHandOver(pages)).post(postHandOver(pages));
  app.get("/organizations/:id/approvals", showApprovals(pages)).post(postApprovals(pages));
  app.get("/books", showBooks(pages)).post(postBooks(pages));
  app.get("/account/approvals/:id", showProposal(pages)).post(postProposal(pages));
  app.get("/organizations/:id/plan", showPlan(pages));
  app.get("/account/delete", showDeleteAccount(pages)).post(postDeleteAccount(pages));
  app.get("/organizations/:id/delete", showDeleteOrganization(pages)).post(postDeleteOrganization(pages));
  app.get("/calendar/:file", etag(), getCalendar(pages));
  app.get("/organizations/:id/export", showExport(pages)).post(postExport(pages));
  app.get("/email/unsubscribe", showUnsubscribe(pages)).post(postUnsubscribe(pages));
  return app;
}
