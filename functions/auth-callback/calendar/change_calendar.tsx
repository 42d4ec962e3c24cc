/** @jsxImportSource hono/jsx */
/** Creates, changes and revokes a person's calendar address. The response to the form shows a new address once. */
import { Buffer } from "node:buffer";
import { calendarToken } from "../../../shared/calendar/token.ts";
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { hashToken } from "../../../shared/oauth/tokens.ts";
import { Buttons } from "../../../shared/pages/components.tsx";
import { COPY_SCRIPT, CopyText } from "../../../shared/pages/copy_button.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { createUrls } from "../../../shared/urls.ts";
import type { Done } from "../account/account_page.tsx";
import { type Handler, type PageDeps, signedInForm } from "../page_guards.ts";
import type { CalendarAction } from "./calendars.tsx";

/** Fields `organization_id` and `action` (`CalendarAction`). */
export const postCalendar = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const owner = { userId: user.id, organizationId: form.get("organization_id") ?? "", at: deps.clock() };
    switch (form.get("action") as CalendarAction | undefined) {
      case "create":
        return await create(c, deps, { user, owner });
      case "show_amounts":
        return back(c, await showAmounts(deps, owner, true));
      case "hide_amounts":
        return back(c, await showAmounts(deps, owner, false));
      case "end":
        // An address that was revoked in the meantime counts as revoked.
        await deps.calendars.end(owner);
        return back(c, "calendar_ended");
      default:
        throw new AppError("invalid_request", "unknown action", { says: ({ unknownChange }) => unknownChange });
    }
  });

type Owner = Parameters<PageDeps["calendars"]["end"]>[0];

const back = (c: AppContext, done: Done) => c.redirect(`/account?done=${done}`, 303);

async function showAmounts({ calendars }: PageDeps, owner: Owner, showAmounts: boolean): Promise<Done> {
  const { outcome } = await calendars.showAmounts({ ...owner, showAmounts });
  if (outcome === "unknown") throw new AppError("not_found", "no calendar", { says: ({ noCalendar }) => noCalendar });
  return showAmounts ? "calendar_with_amounts" : "calendar_without_amounts";
}

async function create(
  c: AppContext,
  { config, calendars }: PageDeps,
  { user, owner }: { user: SignedInUser; owner: Owner },
): Promise<Response> {
  const token = calendarToken(Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url"));
  const { outcome } = await calendars.create({ ...owner, tokenHash: hashToken(token) });
  if (outcome === "refused") {
    throw new AppError("forbidden", "no calendar for them", { says: ({ calendarRefused }) => calendarRefused });
  }
  const { calendarCreated: words, connecting, frame } = c.get("reader").words;
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    script: COPY_SCRIPT,
    children: (
      <>
        <h1>{words.title}</h1>
        <p class="lead">{words.lead}</p>
        <CopyText text={createUrls(config).calendar(token)} words={connecting} />
        <p>{words.how}</p>
        <p>{words.secret}</p>
        <Buttons>
          <a class="button primary" href="/account">{frame.goToAccount}</a>
        </Buttons>
      </>
    ),
  });
}
