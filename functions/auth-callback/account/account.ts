/**
 * The account page and its changes. Each change is one form, one database call, one audit event, and a redirect back.
 */
import type { Mails, Reminders } from "../../../shared/db/identity_store.ts";
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { askIdentityProvider } from "../../../shared/http/session.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { isCountry } from "../profile/country.ts";
import { isEmail, reminderAddress } from "../profile/email.ts";
import { withNext } from "../../../shared/next_path.ts";
import { isTimezone } from "../profile/timezone.ts";
import { type Done, renderAccount } from "./account_page.tsx";
import { type Form, type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { isUuid } from "../page_params.ts";
import { changeLink } from "./providers/change_link.ts";
import { mailReminderConfirmation } from "./reminder_confirmation.ts";

export const showAccount = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const account = await deps.store.readAccount({ userId: user.id, at: deps.clock() });
    if (!account) return c.redirect(withNext("/onboarding", c.req.path), 303);
    // During the grace period of a deletion, the owner can only cancel it.
    if (account.profile.deletes_at) return c.redirect("/account/delete", 303);
    return await renderAccount(c, deps, { user, account, done: c.req.query("done") });
  });

/**
 * Field `action`: `sign_out_elsewhere`, change the `country`, `rename` an organization, choose its `mails`, change the
 * `reminders`, `pause_link` or `resume_link`, `stop_events` or `allow_events` to an app, or `alerts_seen`.
 */
export const postAccount = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    switch (form.get("action")) {
      case "sign_out_elsewhere":
        return back(c, await signOutElsewhere(c, deps));
      case "country":
        return back(c, await changeCountry(deps, user, form));
      case "rename":
        return back(c, await rename(deps, user, form));
      case "mails":
        return back(c, await chooseMails(deps, user, form));
      case "reminders":
        return back(c, await changeReminders(c, deps, { user, form }));
      case "pause_link":
        await changeLink(deps, { user, linkId: form.get("link_id") ?? "", action: "pause" });
        return back(c, "link_paused");
      case "resume_link":
        await changeLink(deps, { user, linkId: form.get("link_id") ?? "", action: "resume" });
        return back(c, "link_resumed");
      case "stop_events":
      case "allow_events":
        return back(c, await allowEvents(deps, user, form));
      case "alerts_seen":
        return back(c, await dismissAlerts(deps, user, form));
      default:
        throw new AppError("invalid_request", "unknown action", { says: ({ unknownChange }) => unknownChange });
    }
  });

/** Ends the person's other sessions at the identity provider; this one continues. */
async function signOutElsewhere(c: AppContext, deps: PageDeps): Promise<Done> {
  const { error } = await askIdentityProvider(c, deps, (auth) => auth.signOut({ scope: "others" }));
  if (error) throw new AppError("unavailable", "other sessions were not ended", { cause: error });
  return "signed_out_elsewhere";
}

const back = (c: AppContext, done: Done) => c.redirect(`/account?done=${done}`, 303);

async function changeCountry({ store, clock }: PageDeps, user: SignedInUser, form: Form): Promise<Done> {
  const country = form.get("country") ?? "";
  if (!isCountry(country)) {
    throw new AppError("invalid_request", "unknown country", { says: ({ chooseCountry }) => chooseCountry });
  }
  const { outcome } = await store.changeCountry({ userId: user.id, country, at: clock() });
  if (outcome === "unknown") throw new AppError("not_found", "no profile", { says: ({ notSetUp }) => notSetUp });
  return "moved";
}

async function rename({ store, clock }: PageDeps, user: SignedInUser, form: Form): Promise<Done> {
  const name = form.get("name") ?? "";
  if (name.length < 1 || name.length > 120) {
    throw new AppError("invalid_request", "name too short or too long", { says: ({ nameLength }) => nameLength });
  }
  const { outcome } = await store.renameOrganization({
    userId: user.id,
    organizationId: form.get("organization_id") ?? "",
    name,
    at: clock(),
  });
  if (outcome === "not_owner") {
    throw new AppError("forbidden", "not the owner", { says: ({ onlyOwnerRenames }) => onlyOwnerRenames });
  }
  return "renamed";
}

/** Field `grant_id`. An app that was disconnected in the meantime has no events. */
async function allowEvents({ store, clock }: PageDeps, user: SignedInUser, form: Form): Promise<Done> {
  const grantId = form.get("grant_id") ?? "";
  if (!isUuid(grantId)) {
    throw new AppError("invalid_request", "no grant id", { says: ({ unknownApp }) => unknownApp });
  }
  const isAllowed = form.get("action") === "allow_events";
  await store.allowSubscriptions({ userId: user.id, grantId, isAllowed, at: clock() });
  return isAllowed ? "events_allowed" : "events_stopped";
}

/** Field `until`: the time of the newest shown alert. Later alerts remain. */
async function dismissAlerts({ store, clock }: PageDeps, user: SignedInUser, form: Form): Promise<Done> {
  const until = new Date(form.get("until") ?? "");
  if (Number.isNaN(until.getTime())) {
    throw new AppError("invalid_request", "until is not an instant", { says: ({ unknownChange }) => unknownChange });
  }
  await store.dismissGrantAlerts({ userId: user.id, until, at: clock() });
  return "seen";
}

const isMails = (value: string | undefined): value is Mails => ["mine", "all", "none"].includes(value ?? "");

async function chooseMails({ store, clock }: PageDeps, user: SignedInUser, form: Form): Promise<Done> {
  const mails = form.get("mails");
  if (!isMails(mails)) {
    throw new AppError("invalid_request", "unknown choice of mails", { says: ({ unknownChange }) => unknownChange });
  }
  const organizationId = form.get("organization_id") ?? "";
  const { outcome } = await store.chooseMails({ userId: user.id, organizationId, mails, at: clock() });
  if (outcome === "not_member") {
    throw new AppError("forbidden", "not a member", { says: ({ onlyMembersMailed }) => onlyMembersMailed });
  }
  return "mails";
}

async function changeReminders(
  c: AppContext,
  deps: PageDeps,
  { user, form }: { user: SignedInUser; form: Form },
): Promise<Done> {
  const answer = await deps.store.updateReminders({ ...readReminders(form, user), userId: user.id, at: deps.clock() });
  if (answer.outcome === "unknown") throw new AppError("not_found", "no profile", { says: ({ notSetUp }) => notSetUp });
  if (answer.outcome === "invalid") {
    throw new AppError("invalid_request", "unknown time zone", { says: ({ unknownTimezone }) => unknownTimezone });
  }
  if (!answer.unconfirmed) return "saved";
  const sent = await mailReminderConfirmation(c, deps, { user, address: answer.unconfirmed });
  return sent ? "confirm" : "not_sent";
}

/** @throws {AppError} `invalid_request` for values that the form's controls don't allow, or a mistyped address. */
function readReminders(form: Form, user: SignedInUser): Reminders {
  const reminders = {
    reminder_email: reminderAddress(form.get("reminder_email"), user.email),
    timezone: form.get("timezone") ?? "",
    default_lead_days: Number(form.get("default_lead_days") || NaN),
    email_enabled: form.get("email_enabled") === "on",
  };
  if (!isEmail(reminders.reminder_email)) {
    throw new AppError("invalid_request", "not an email address", { says: ({ reminderAddress }) => reminderAddress });
  }
  if (!isTimezone(reminders.timezone)) {
    throw new AppError("invalid_request", "unknown time zone", { says: ({ chooseTimezone }) => chooseTimezone });
  }
  const lead = reminders.default_lead_days;
  if (!Number.isInteger(lead) || lead < 0 || lead > 90) {
    throw new AppError("invalid_request", "lead days out of range", { says: ({ leadDays }) => leadDays });
  }
  return reminders;
}
