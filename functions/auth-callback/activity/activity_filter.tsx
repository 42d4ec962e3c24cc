/** @jsxImportSource hono/jsx */
/** The filter of the list of changes: a GET form. */
import type { ActivityFilter, ActivityPage } from "../../../shared/db/activity_store.ts";
import { shownClientName } from "../../../shared/oauth/client_name.ts";
import { SelectField, TextField } from "../../../shared/pages/components.tsx";
import { activityPath } from "../../../shared/urls.ts";
import type { Reader } from "../../../shared/words/reader.ts";

/** The query that selects these changes. @param before the cursor of the next page */
export const searchOf = ({ organization }: ActivityPage, filter: ActivityFilter, before?: string): URLSearchParams =>
  new URLSearchParams(
    Object.entries({ organization: organization.id, ...filter, q: filter.query, query: undefined, before })
      .filter((entry): entry is [string, string] => entry[1] !== undefined),
  );

export function ActivityFilterForm(
  { page, filter, reader }: { page: ActivityPage; filter: ActivityFilter; reader: Reader },
) {
  const { activity: { filter: words }, apps: { changes } } = reader.words;
  const any = { value: "", label: words.any };
  return (
    <details class="filter" open={Object.keys(filter).length > 0}>
      <summary>{words.title}</summary>
      <form method="get" action="/account/activity" class="stack">
        <input type="hidden" name="organization" value={page.organization.id} />
        <TextField name="q" label={words.text} value={filter.query} maxlength={120} />
        <SelectField
          name="by"
          label={words.by}
          unchosen={words.any}
          selected={filter.by ?? ""}
          options={[any, ...(page.people ?? []).map(({ id, name }) => ({ value: id, label: name }))]}
        />
        <SelectField
          name="app"
          label={words.app}
          unchosen={words.any}
          selected={filter.app ?? ""}
          options={[any, ...(page.apps ?? []).map((name) => ({ value: name, label: shownClientName(name) }))]}
        />
        <SelectField
          name="tool"
          label={words.tool}
          unchosen={words.any}
          selected={filter.tool ?? ""}
          options={[any, ...Object.entries(changes).map(([value, label]) => ({ value, label }))]}
        />
        <TextField name="from" label={words.from} type="date" value={filter.from} />
        <TextField name="to" label={words.to} type="date" value={filter.to} />
        <div class="actions">
          <button type="submit">{words.show}</button>
          {Object.keys(filter).length > 0 && <a href={activityPath(page.organization.id)}>{words.clear}</a>}
        </div>
      </form>
    </details>
  );
}
