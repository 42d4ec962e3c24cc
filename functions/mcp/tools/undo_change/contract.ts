/** The contract of `undo_change`; `app.undo_change` does the work. */
import { dryRun, id, idempotencyKey, object } from "../../../../shared/connector/schema.ts";
import { defineTool, REVERSE } from "../../../../shared/connector/tool.ts";
import { answer } from "./answer.ts";

export const undoChange = defineTool({
  name: "undo_change",
  annotations: REVERSE,
  inputSchema: object({ change_id: id("chg"), dry_run: dryRun, idempotency_key: idempotencyKey }),
  // The change may be an import of many rows.
  isLong: () => true,
  data: { undone: "object", reversed: "array", reversed_count: "integer", not_reversible: "array" },
  answer,
});
