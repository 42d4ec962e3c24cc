/** @jsxImportSource hono/jsx */
/** The notice at the top of every page of an organization that is being deleted or whose plan allows no changes. */
import type { OrganizationState } from "../organization_state.ts";
import { organizationPath } from "../urls.ts";
import type { Reader } from "../words/reader.ts";
import { DateText, Name, Notice } from "./components.tsx";

interface StateProps {
  id: string;
  /** Omits the action that only the notice offers. */
  state: Omit<OrganizationState, "takes_changes" | "writes">;
  reader: Reader;
}

export function StateNotice({ state, ...props }: StateProps & { state: OrganizationState }) {
  if (!state.deletes_at && (state.takes_changes || !state.writes)) return null;
  return (
    <Notice kind={state.deletes_at ? "warning" : "plain"}>
      <p>
        <StateText state={state} {...props} />
      </p>
    </Notice>
  );
}

/** Why an organization accepts no changes, and the person who can help. */
export function StateText({ id, state, reader: { words: { organizationState: words }, format } }: StateProps) {
  const name = <Name>{state.name}</Name>;
  const owner = <Name>{state.owner}</Name>;
  return state.deletes_at
    ? (
      <>
        {words.deleting(name, <DateText at={state.deletes_at} format={format} />)}{" "}
        {state.is_owner ? <a href={organizationPath(id, "delete")}>{words.keep}</a> : words.ownerKeeps(owner)}
      </>
    )
    : (
      <>
        {words.noChanges(name)}{" "}
        {state.is_owner ? <a href={organizationPath(id, "plan")}>{words.choosePlan}</a> : words.ownerChooses(owner)}
      </>
    );
}
