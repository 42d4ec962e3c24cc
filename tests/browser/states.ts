/** Every page in each notable state. */
import { signIn } from "../functions/auth-callback/harness.ts";
import { EMAIL, page, type State } from "./states/state.ts";
import { ACCOUNT_STATES } from "./states/accounts.ts";
import { ACTIVITY_STATES } from "./states/activity.ts";
import { APPROVAL_STATES } from "./states/approvals.ts";
import { BOOKS_STATES } from "./states/books.ts";
import { MEMBERS_STATES } from "./states/members.ts";
import { SIGN_IN_STATES } from "./states/sign_in.ts";
import { CONNECTING_STATES } from "./states/connecting.ts";
import { MAILED_LINK_STATES } from "./states/mailed_links.ts";
import { EXPORT_STATES } from "./states/exports.ts";
import { POLICY_STATES } from "./states/policies.ts";
import { UPLOAD_STATES } from "./states/uploads.ts";
import { DOCUMENT_STATES } from "./states/documents.ts";
import { INBOUND_STATES } from "./states/inbound.ts";
import { CONSENT_STATES } from "./states/consent.ts";

export const STATES: readonly State[] = [
  ...SIGN_IN_STATES,
  ...ACCOUNT_STATES,
  ...MEMBERS_STATES,
  ...ACTIVITY_STATES,
  ...APPROVAL_STATES,
  ...BOOKS_STATES,
  ...CONNECTING_STATES,
  ...UPLOAD_STATES,
  ...DOCUMENT_STATES,
  ...INBOUND_STATES,
  ...EXPORT_STATES,
  page("not-found", ({ browser }) => browser.get("/nothing/here")),
  ...MAILED_LINK_STATES,
  page("broken", async ({ pages }) => await (await signIn(pages, EMAIL)).browser.get("/account"), { answers: {} }),
  ...CONSENT_STATES,
  ...POLICY_STATES,
];
