/** @jsxImportSource hono/jsx */
/** What every page of an organization says first: that it is being deleted, or that its plan takes no changes. */
import type { OrganizationState } from "../organization_state.ts";
import type { Urls } from "../urls.ts";
import { organizationPath } from "../urls.ts";
import type { Reader } from "../words/reader.ts";
import { DateText, Name, Notice } from "./components.tsx";

interface StateProps {
  id: string;
  state: OrganizationState;
  urls: Pick<Urls, "plans">;
  reader: Reader;
}

export function StateNotice({ id, state, urls, reader: { words: { organizationState: words }, format } }: StateProps) {
  const name = <Name>{state.name}</Name>;
  const owner = <Name>{state.owner}</Name>;
  if (state.deletes_at) {
    return (
      <Notice kind="warning">
        <p>
          {words.deleting(name, <DateText at={state.deletes_at} format={format} />)}{" "}
          {state.is_owner ? <a href={organizationPath(id, "delete")}>{words.keep}</a> : words.ownerKeeps(owner)}
        </p>
      </Notice>
    );
  }
  if (state.takes_changes || !state.writes) return null;
  return (
    <Notice>
      <p>
        {words.noChanges(name)}{" "}
        {state.is_owner ? <a href={urls.plans(id)}>{words.choosePlan}</a> : words.ownerChooses(owner)}
      </p>
    </Notice>
  );
}
