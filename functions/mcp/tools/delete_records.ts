/** The contract of `delete_records`; `app.delete_records` does the work. */
import {
  amount,
  changeFilter,
  confirm,
  date,
  dryRun,
  ids,
  type JsonSchema,
  list,
  listedChangeFilter,
  object,
  text,
} from "../../../shared/connector/schema.ts";
import { defineTool, DELETE } from "../../../shared/connector/tool.ts";

const schemaWith = (filter: JsonSchema) =>
  object({
    ids: ids("exp", "bill"),
    filter,
    expected: list(object({ id: { type: "string" }, amount: amount(), date: date() }, ["id"]), {
      maxItems: 100,
      description: "What the user was shown; a mismatch deletes nothing.",
    }),
    confirm,
    reason: text(200),
    dry_run: dryRun,
  });

export const deleteRecords = defineTool({
  name: "delete_records",
  annotations: DELETE,
  inputSchema: schemaWith(changeFilter),
  listedSchema: schemaWith(listedChangeFilter),
  data: { deleted: "array", count: "integer", restorable_until: "string", confirm: "object" },
});
