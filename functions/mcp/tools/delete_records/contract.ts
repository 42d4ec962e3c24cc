/** The contract of `delete_records`; `app.delete_records` does the work. */
import {
  amount,
  changeFilter,
  confirm,
  date,
  dryRun,
  ids,
  list,
  object,
  text,
} from "../../../../shared/connector/schema.ts";
import { defineTool, UPDATE } from "../../../../shared/connector/tool.ts";

const inputSchema = object({
  ids: ids("exp", "bill", "inc"),
  filter: changeFilter,
  expected: list(object({ id: { type: "string" }, amount: amount(), date: date() }, ["id"]), {
    maxItems: 100,
    description: "As shown to the user.",
  }),
  confirm,
  reason: text(200),
  dry_run: dryRun,
});

export const deleteRecords = defineTool({
  name: "delete_records",
  annotations: UPDATE,
  inputSchema,
  data: { deleted: "array", count: "integer", restorable_until: "string", confirm: "object" },
});
