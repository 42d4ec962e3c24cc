/** The contract of `undo_change`; `app.undo_change` does the work. */
import { dryRun, id, object } from "../../../shared/connector/schema.ts";
import { defineTool, REVERSE } from "../../../shared/connector/tool.ts";

export const undoChange = defineTool({
  name: "undo_change",
  title: "Undo a change",
  annotations: REVERSE,
  description:
    "Reverse one earlier write as a whole. Default: the caller's latest change in this organization. Fails with undo_conflict when a touched row changed since. Undoing an undo redoes it.",
  inputSchema: object({ change_id: id("chg"), dry_run: dryRun }),
  data: { undone: "object", reversed: "array", reversed_count: "integer", not_reversible: "array" },
});
