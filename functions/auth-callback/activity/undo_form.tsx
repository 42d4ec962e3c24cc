/** @jsxImportSource hono/jsx */
/** The form that undoes a change. Its idempotency key makes a double click harmless. */
import type { Activity, ActivityPage } from "../../../shared/db/activity_store.ts";
import type { Reader } from "../../../shared/words/reader.ts";

/** How long a person can undo a change; the tool checks it again. */
const DAYS = 30;

export const canUndo = (change: Activity, { may_write: mayWrite }: ActivityPage, now: Date): boolean =>
  mayWrite && !change.is_emptied && change.undone_by === null && change.tool !== "unsubscribe" &&
  now.getTime() - Date.parse(change.at) < DAYS * 86_400_000;

interface UndoFormProps {
  change: Activity;
  page: ActivityPage;
  token: string;
  reader: Reader;
}

export const UndoForm = ({ change, page, token, reader: { words: { activity: words } } }: UndoFormProps) => (
  <form method="post" action="/account/activity">
    <input type="hidden" name="form_token" value={token} />
    <input type="hidden" name="organization" value={page.organization.id} />
    <input type="hidden" name="change" value={change.id} />
    <input type="hidden" name="key" value={crypto.randomUUID()} />
    <button type="submit">
      {words[change.undoes === null ? "undo" : "redo"]}
    </button>
  </form>
);
