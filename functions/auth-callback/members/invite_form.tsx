/** @jsxImportSource hono/jsx */
/** The invitation form. Only the owner can invite managers. */
import type { Child } from "hono/jsx";
import type { Members } from "../../../shared/db/members_store.ts";
import { RadioList, Submit, TextField } from "../../../shared/pages/components.tsx";
import type { PageWords } from "../../../shared/words/page_words.ts";
import { membersPath } from "./addresses.ts";
import { isGivenRole } from "./asked.ts";

export interface Invited {
  address: string;
  role: string | undefined;
  /** Errors as sentences. */
  problems: { address?: string; role?: string };
}

interface InviteFormView {
  members: Members;
  token: Child;
  words: PageWords["members"];
  invited?: Invited | undefined;
}

export function InviteForm({ members, token, words, invited }: InviteFormView) {
  const roles = members.role === "owner" ? ["member", "viewer", "manager"] as const : ["member", "viewer"] as const;
  return (
    <form method="post" action={membersPath(members.id)} class="stack">
      {token}
      <input type="hidden" name="action" value="invite" />
      <TextField
        name="address"
        label={words.address}
        reason={words.addressReason}
        error={invited?.problems.address}
        type="email"
        value={invited?.address}
        required
        maxlength={254}
        autocomplete="off"
        inputmode="email"
      />
      <RadioList
        name="role"
        legend={words.as}
        choices={roles.map((role) => ({ value: role, ...words.choices[role] }))}
        selected={isGivenRole(invited?.role) ? invited.role : "member"}
      />
      {invited?.problems.role && <p class="invalid">{invited.problems.role}</p>}
      <Submit>{words.send}</Submit>
    </form>
  );
}
