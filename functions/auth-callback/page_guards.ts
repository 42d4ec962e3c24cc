/** Dependencies of the identity pages, and the two guards that most pages use. */
import type { ApprovalStore } from "../../shared/db/approval_store.ts";
import type { ActivityStore } from "../../shared/db/activity_store.ts";
import type { BooksStore } from "../../shared/db/books_store.ts";
import type { CalendarStore } from "../../shared/db/calendar_store.ts";
import type { DocumentStore } from "../../shared/db/document_store.ts";
import type { ExportStore } from "../../shared/db/export_store.ts";
import type { DeletionStore } from "../../shared/db/deletion_store.ts";
import type { ImportStore } from "../../shared/db/import_store.ts";
import type { MembersStore } from "../../shared/db/members_store.ts";
import type { PageToolStore } from "../../shared/db/page_tool_store.ts";
import type { ProviderLinkStore } from "../../shared/db/provider_link_store.ts";
import type { IdentityStore } from "../../shared/db/identity_store.ts";
import type { Deps } from "../../shared/deps.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { readForm, requireFormToken } from "../../shared/http/form_post.ts";
import { readSession, type SignedInUser } from "../../shared/http/session.ts";
import { withNext } from "../../shared/next_path.ts";
import type { Registry } from "../../shared/providers/registry.ts";

/** Dependencies of pages without sign-in. */
export interface OpenPageDeps extends Deps {
  store: IdentityStore;
  providerLinks: ProviderLinkStore;
  calendars: CalendarStore;
  imports: ImportStore;
  documents: DocumentStore;
  members: MembersStore;
  activity: ActivityStore;
  tools: PageToolStore;
  exports: ExportStore;
  deletions: DeletionStore;
  approvals: ApprovalStore;
  books: BooksStore;
}

export interface PageDeps extends OpenPageDeps {
  providers: Registry;
}

export type Handler = (c: AppContext) => Promise<Response>;
export type Form = ReadonlyMap<string, string>;

/** A page for signed-in people; others sign in first and then return to it. */
export function signedIn(deps: PageDeps, handle: (c: AppContext, user: SignedInUser) => Promise<Response>): Handler {
  return async (c) => {
    const user = await readSession(c, deps);
    if (user) {
      c.set("signedIn", user);
      return await handle(c, user);
    }
    // A redirect cannot repeat a form post. It shows the form's page again, which has the same URL.
    return c.redirect(withNext("/login", c.req.path + new URL(c.req.url).search), 303);
  };
}

/** A change by a signed-in person through a form from our own page (field `form_token`). */
export function signedInForm(
  deps: PageDeps,
  handle: (c: AppContext, asked: { user: SignedInUser; form: Form }) => Promise<Response>,
): Handler {
  return signedIn(deps, async (c, user) => {
    const form = await readForm(c, deps.config);
    await requireFormToken(deps.config, { form, userId: user.id, at: deps.clock() });
    return await handle(c, { user, form });
  });
}
