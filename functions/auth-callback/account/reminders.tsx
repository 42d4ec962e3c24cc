/** @jsxImportSource hono/jsx */
/** When and where reminders go. */
import type { Child } from "hono/jsx";
import type { Account } from "../../../shared/db/identity_store.ts";
import { timezones } from "../profile/timezone.ts";
import { Buttons, Name, Notice, SelectField, TextField } from "../../../shared/pages/components.tsx";

interface ReminderView {
  profile: Account["profile"];
  organizations: Account["organizations"];
  token: Child;
}

export function ReminderForm({ profile, organizations, token }: ReminderView) {
  const waits = profile.reminder_email !== null && !profile.reminder_email_confirmed;
  return (
    <form method="post" action="/account" class="stack">
      {token}
      <input type="hidden" name="action" value="reminders" />
      {profile.refused_email && (
        <Notice kind="warning">
          <p>
            <Name>{profile.refused_email}</Name>{" "}
            did not accept our mail, so we stopped sending reminders there. Check the address and save to try again.
          </p>
        </Notice>
      )}
      {waits && (
        <Notice kind="warning">
          <p>
            <Name>{profile.reminder_email}</Name> is not confirmed yet. Until then reminders go to{" "}
            <Name>{profile.email}</Name>. Save again to have the link sent once more.
          </p>
        </Notice>
      )}
      <PlanNotice organizations={organizations} />
      <label class="choice">
        <input type="checkbox" name="email_enabled" checked={profile.email_enabled} />
        <span>
          <span class="title">Remind me by e-mail</span>
          <span class="detail">At most one mail a day, with everything that falls due.</span>
        </span>
      </label>
      <TextField
        name="reminder_email"
        label="E-mail for reminders"
        type="email"
        value={profile.reminder_email ?? profile.email}
        required
        maxlength={254}
        autocomplete="email"
      />
      <TextField
        name="default_lead_days"
        label="Days before a bill is due"
        reason="For bills that do not say otherwise."
        type="number"
        class="short"
        value={profile.default_lead_days}
        required
        min={0}
        max={90}
        inputmode="numeric"
      />
      <SelectField
        name="timezone"
        label="Time zone"
        reason="Decides which day it is for you."
        selected={profile.timezone}
        options={timezones(profile.timezone).map((zone) => ({ value: zone, label: zone.replaceAll("_", " ") }))}
      />
      <Buttons>
        <button class="primary" type="submit">Save</button>
      </Buttons>
    </form>
  );
}

/** Whose bills nobody is reminded of now, whatever is ticked: only owners are mailed, and their plan has to include it. */
function PlanNotice({ organizations }: Pick<ReminderView, "organizations">) {
  const own = organizations.filter(({ role }) => role === "owner");
  const off = own.filter(({ features_off }) => features_off.includes("reminders:email"));
  if (off.length === 0) return null;
  return (
    <Notice kind="warning">
      <p>
        {off.length === own.length ? "No reminders are sent now: " : "Not all reminders are sent: "}
        {off.map(({ name }, n) => (
          <>
            {n > 0 && ", "}
            <Name>{name}</Name>
          </>
        ))} {off.length === 1 ? "is on a plan" : "are on plans"}{" "}
        without reminder mails. What you choose here counts again once the plan includes them.
      </p>
    </Notice>
  );
}

/** Organizations whose reminders the owner ended from a mail. */
export function EndedReminders({ organizations, token }: { organizations: Account["organizations"]; token: Child }) {
  const ended = organizations.filter(({ role, reminders_enabled }) => role === "owner" && !reminders_enabled);
  if (ended.length === 0) return null;
  return (
    <ul class="rows">
      {ended.map(({ id, name }) => (
        <li class="row">
          <p>
            No reminders for bills of <Name>{name}</Name>.
          </p>
          <form method="post" action="/account">
            {token}
            <input type="hidden" name="action" value="resume" />
            <input type="hidden" name="organization_id" value={id} />
            <button type="submit">Remind me again</button>
          </form>
        </li>
      ))}
    </ul>
  );
}
