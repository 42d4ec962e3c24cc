/** The contract of `delete_records`; `app.delete_records` does the work. */
import { amount, date, ids, list, object, text } from "../../../shared/connector/schema.ts";
import { defineTool, DELETE } from "../../../shared/connector/tool.ts";

export const deleteRecords = defineTool({
  name: "delete_records",
  title: "Delete expenses or bills",
  annotations: DELETE,
  description:
    "Soft-delete up to 100 expenses or one bill; restorable with undo_change for 30 days. To stop a bill but keep its history use update_bill status cancelled.",
  inputSchema: object({
    ids: ids("exp", "bill"),
    expected: list(object({ id: { type: "string" }, amount: amount(), date: date() }, ["id"]), {
      maxItems: 100,
      description: "What the user was shown; a mismatch deletes nothing.",
    }),
    reason: text(200),
  }, ["ids"]),
  data: { deleted: "array", restorable_until: "string" },
});
