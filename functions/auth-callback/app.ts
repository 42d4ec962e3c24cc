/** Routes of the identity pages. */
import { etag } from "hono/etag";
import { createApprovalStore } from "../../shared/db/approval_store.ts";
import { createActivityStore } from "../../shared/db/activity_store.ts";
import { createBooksStore } from "../../shared/db/books_store.ts";
import { createCalendarStore } from "../../shared/db/calendar_store.ts";
import { createDocumentStore } from "../../shared/db/document_store.ts";
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
import { isFileForm } from "../../shared/http/file_form.ts";
import { ICON } from "../../shared/pages/icon.ts";
import { getChallenge, getIcon } from "./files.ts";
import { pageErrors } from "../../shared/pages/error_page.tsx";
import { readers } from "../../shared/pages/reader.ts";
import type { Registry } from "../../shared/providers/registry.ts";
import type { Languages } from "../../shared/words/page_words.ts";
import { plainErrors } from "./calendar/plain_errors.ts";
import { finishSignIn, postCallback } from "./sign_in/callback.ts";
import { showFrontPage } from "./front_page/front_page.tsx";
import { postLogin, showLogin } from "./sign_in/login.ts";
import { postLogout } from "./sign_in/logout.ts";
import type { OpenPageDeps } from "./page_guards.ts";
import { pageLoader } from "./page_loader.ts";

export function createAuthCallbackApp(deps: Deps, providers?: Registry, languages?: Languages): App {
  const app = createApp("auth-callback", deps, plainErrors(pageErrors(deps.config)));
  app.use(readers(languages));
  app.use(admission(deps.config, { isReadLater: isFileForm }));
  const open: OpenPageDeps = {
    ...deps,
    store: createIdentityStore(deps.database),
    providerLinks: createProviderLinkStore(deps.database),
    calendars: createCalendarStore(deps.database),
    imports: createImportStore(deps.database),
    documents: createDocumentStore(deps.database),
    members: createMembersStore(deps.database),
    activity: createActivityStore(deps.database),
    tools: createPageToolStore(deps.database),
    exports: createExportStore(deps.database),
    deletions: createDeletionStore(deps.database),
    approvals: createApprovalStore(deps.database),
    books: createBooksStore(deps.database),
  };
  const page = pageLoader(open, providers);
  const onboarding = page(() => import("./onboarding/onboarding.ts"));
  const account = page(() => import("./account/account.ts"));
  const changeCalendar = page(() => import("./calendar/change_calendar.tsx"));
  const expenseFile = page(() => import("./download/expense_file.ts"));
  const activity = page(() => import("./activity/activity.ts"));
  const undo = page(() => import("./activity/undo.ts"));
  const upload = page(() => import("./import/upload.ts"));
  const document = page(() => import("./documents/document.tsx"));
  const connectedApp = page(() => import("./account/connected_app.tsx"));
  const connection = page(() => import("./account/providers/connect.ts"));
  const removal = page(() => import("./account/providers/remove.tsx"));
  const addressChange = page(() => import("./account/address/change.tsx"));
  const addressConfirmation = page(() => import("./account/address/confirm.tsx"));
  const reminderEmail = page(() => import("./account/reminder_email.tsx"));
  const invitation = page(() => import("./members/invitation.tsx"));
  const newOrganization = page(() => import("./organizations/new_organization.tsx"));
  const members = page(() => import("./members/members.ts"));
  const removeMember = page(() => import("./members/remove_member.tsx"));
  const handOver = page(() => import("./members/hand_over.tsx"));
  const inbound = page(() => import("./inbound/inbound.ts"));
  const policy = page(() => import("./approvals/policy.ts"));
  const policies = page(() => import("./policies/policies.tsx"));
  const review = page(() => import("./sign_in/review.tsx"));
  const books = page(() => import("./books/books.ts"));
  const proposal = page(() => import("./approvals/proposal.ts"));
  const planPage = page(() => import("./account/plan_page.tsx"));
  const deleteAccount = page(() => import("./deletion/delete_account.tsx"));
  const deleteOrganization = page(() => import("./deletion/delete_organization.tsx"));
  const feed = page(() => import("./calendar/feed.ts"));
  const exporting = page(() => import("./export/export.ts"));
  const datev = page(() => import("./export/datev.ts"));
  const unsubscribe = page(() => import("./unsubscribe/unsubscribe.ts"));

  app.get("/", showFrontPage(open));
  // Browsers request it for addresses that are not our pages; our own pages inline it.
  app.get(
    "/favicon.ico",
    (c) => c.body(ICON, 200, { "content-type": "image/svg+xml", "cache-control": "max-age=86400" }),
  );
  app.get("/icons/:name", getIcon);
  app.get("/.well-known/openai-apps-challenge", getChallenge(deps.config));
  app.get("/login", showLogin(open)).post(postLogin(open));
  app.get("/auth/callback", finishSignIn(open)).post(postCallback(open));
  app.get("/privacy", policies("showPrivacy"));
  app.get("/terms", policies("showTerms"));
  app.get("/review", review("showReview")).post(review("postReview"));
  app.post("/logout", postLogout(open));
  app.get("/onboarding", onboarding("showOnboarding")).post(onboarding("postOnboarding"));
  app.get("/account", account("showAccount")).post(account("postAccount"));
  // The form is on the account page; signing in again redirects here.
  app.get("/account/calendar", (c) => c.redirect("/account", 303)).post(changeCalendar("postCalendar"));
  app.get("/account/expenses.csv", expenseFile("getExpenseFile"));
  app.get("/account/activity", activity("showActivity")).post(undo("postUndo"));
  app.get("/account/import/:id", upload("showUpload")).post(upload("postUpload"));
  app.get("/account/documents/:id", document("showDocument")).post(document("postDocument"));
  app.get("/account/documents/:id/file", document("getDocumentFile"));
  app.get("/account/access", connectedApp("showAccess")).post(connectedApp("postAccess"));
  app.get("/account/disconnect", connectedApp("showDisconnect")).post(connectedApp("postDisconnect"));
  app.get("/account/providers/connect", connection("showConnect")).post(connection("postConnect"));
  app.get("/account/providers/connected", connection("showConnected"));
  app.get("/account/providers/remove", removal("showRemove")).post(removal("postRemove"));
  app.get("/account/email", addressChange("showAddress")).post(addressChange("postAddress"));
  app.get("/account/email/confirm", addressConfirmation("showConfirmation")).post(
    addressConfirmation("postConfirmation"),
  );
  app.get("/account/reminder-email", reminderEmail("showReminderEmail")).post(reminderEmail("postReminderEmail"));
  app.get("/invitation", invitation("showInvitation")).post(invitation("postInvitation"));
  app.get("/organizations/new", newOrganization("showNewOrganization")).post(newOrganization("postNewOrganization"));
  app.get("/organizations/:id/members", members("showMembers")).post(members("postMembers"));
  app.get("/organizations/:id/members/remove", removeMember("showRemoveMember")).post(removeMember("postRemoveMember"));
  app.get("/organizations/:id/hand-over", handOver("showHandOver")).post(handOver("postHandOver"));
  app.get("/organizations/:id/approvals", policy("showApprovals")).post(policy("postApprovals"));
  app.get("/organizations/:id/mail", inbound("showInbound")).post(inbound("postInbound"));
  app.get("/books", books("showBooks")).post(books("postBooks"));
  app.get("/account/approvals/:id", proposal("showProposal")).post(proposal("postProposal"));
  app.get("/organizations/:id/plan", planPage("showPlan"));
  app.get("/account/delete", deleteAccount("showDeleteAccount")).post(deleteAccount("postDeleteAccount"));
  app.get(
    "/organizations/:id/delete",
    deleteOrganization("showDeleteOrganization"),
  ).post(deleteOrganization("postDeleteOrganization"));
  app.get("/calendar/:file", etag(), feed("getCalendar"));
  app.get("/organizations/:id/export", exporting("showExport")).post(exporting("postExport"));
  app.get("/organizations/:id/export/datev", datev("showDatev")).post(datev("postDatev"));
  app.get("/email/unsubscribe", unsubscribe("showUnsubscribe")).post(unsubscribe("postUnsubscribe"));
  return app;
}
