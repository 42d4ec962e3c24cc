/** @jsxImportSource hono/jsx */
/** Texts about a change that the list and its page share. */
import type { Activity, ActivityPage } from "../../../shared/db/activity_store.ts";
import { shownClientName } from "../../../shared/oauth/client_name.ts";
import { Name, TimeText } from "../../../shared/pages/components.tsx";
import { proposalPath } from "../../../shared/urls.ts";
import { presentChange } from "../../../shared/words/change.ts";
import type { Reader } from "../../../shared/words/reader.ts";

export interface ChangeProps {
  change: Activity;
  page: Pick<ActivityPage, "organization" | "timezone">;
  reader: Reader;
}

/** Letters and marks that could rearrange the sentence around a name (UAX #9). */
const REARRANGES = /[\p{Bidi_Control}\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

const isolateNames = <Facts extends object>(facts: Facts): Facts =>
  JSON.parse(
    JSON.stringify(facts),
    (_, value) =>
      typeof value === "string" && REARRANGES.test(value)
        ? `\u2068${value.replace(/\p{Bidi_Control}/gu, "")}\u2069`
        : value,
  );

/** "Logged Lunch, 14.50 EUR"; without stored contents, a general description of the tool. */
export function summaryOf(
  { change, is_emptied: isEmptied, tool }: Activity,
  { catalog, words, format }: Reader,
): string {
  if (!isEmptied) return presentChange(isolateNames(change), catalog, format);
  const { changes, otherChange } = words.apps;
  return words.activity.emptied(Object.hasOwn(changes, tool) ? changes[tool as keyof typeof changes] : otherChange);
}

/** Author, app, time and approver. */
export function Byline({ change, page: { timezone }, reader: { words: { activity: words }, format } }: ChangeProps) {
  return (
    <p class="muted small">
      {change.is_automatic ? words.automatic : change.by === null ? words.formerMember : <Name>{change.by}</Name>}
      {change.client_name && (
        <>
          {" "}· <Name>{shownClientName(change.client_name)}</Name>
        </>
      )}
      {!change.client_name && !change.is_automatic && <>{" "}· {words.onPage}</>} ·{" "}
      <TimeText at={change.at} timezone={timezone} format={format} />
      {change.proposal_id && change.approved_by && (
        <>
          {" "}· <a href={proposalPath(change.proposal_id)}>{words.approvedBy(<Name>{change.approved_by}</Name>)}</a>
        </>
      )}
      {change.undone_by && (
        <>
          {" "}
          <span class="tag">{words.undone}</span>
        </>
      )}
    </p>
  );
}
