/** @jsxImportSource hono/jsx */
/** When and where reminders are sent. */
import type { Child } from "hono/jsx";
import type { Account } from "../../../shared/db/identity_store.ts";
import { timezones } from "../profile/timezone.ts";
import { Name, Notice, SelectField, Submit, TextField } from "../../../shared/pages/components.tsx";
import type { PageWords } from "../../../shared/words/page_words.ts";

interface ReminderView {
  profile: Account["profile"];
  organizations: Account["organizations"];
  token: Child;
  words: PageWords["reminders"];
}

export function ReminderForm(
  { profile, organizations, token, words, unchosen }: ReminderView & { unchosen: string },
) {
  const waits = profile.reminder_email !== null && !profile.reminder_email_confirmed;
  return (
    <form method="post" action="/account" class="stack">
      {token}
      <input type="hidden" name="action" value="reminders" />
      {profile.refused_email && (
        <Notice kind="warning">
          <p>{words.refused(<Name>{profile.refused_email}</Name>)}</p>
        </Notice>
      )}
      {waits && (
        <Notice kind="warning">
          <p>{words.unconfirmed(<Name>{profile.reminder_email}</Name>, <Name>{profile.email}</Name>)}</p>
        </Notice>
      )}
      <PlanNotice organizations={organizations} words={words} />
      <label class="choice">
        <input type="checkbox" name="email_enabled" checked={profile.email_enabled} />
        <span>
          <span class="title">{words.byEmail}</span>
          <span class="detail">{words.byEmailDetail}</span>
        </span>
      </label>
      <TextField
        name="reminder_email"
        label={words.address}
        type="email"
        value={profile.reminder_email ?? profile.email}
        required
        maxlength={254}
        autocomplete="email"
      />
      <TextField
        name="default_lead_days"
        label={words.days}
        reason={words.daysReason}
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
        label={words.timezone}
        reason={words.timezoneReason}
        selected={profile.timezone}
        unchosen={unchosen}
        options={timezones(profile.timezone).map((zone) => ({ value: zone, label: zone.replaceAll("_", " ") }))}
      />
      <Submit>{words.save}</Submit>
    </form>
  );
}

/** Organizations that the person owns and whose plan includes no reminders, whatever the person ticked. */
function PlanNotice({ organizations, words }: Pick<ReminderView, "organizations" | "words">) {
  const own = organizations.filter(({ role }) => role === "owner");
  const off = own.filter(({ features_off }) => features_off.includes("reminders:email"));
  if (off.length === 0) return null;
  const warn = off.length === own.length ? words.noneSent : words.notAllSent;
  return (
    <Notice kind="warning">
      <p>{warn(off.map(({ name }) => <Name>{name}</Name>))}</p>
    </Notice>
  );
}
