/** The contract of `draft_cancellation`; `app.draft_cancellation` does the work, and `answer.ts` writes the letter. */
import { billContract, date, id, object, oneOf, text } from "../../../../shared/connector/schema.ts";
import { defineTool, UPDATE } from "../../../../shared/connector/tool.ts";
import { answer } from "./answer.ts";

export const draftCancellation = defineTool({
  name: "draft_cancellation",
  annotations: UPDATE,
  inputSchema: object({
    bill_id: id("bill"),
    bill_name: text(120),
    language: oneOf(["de", "en"], { default: "en" }),
    leave_on: date("Last day."),
    words: text(1000, { description: "The person's." }),
    sender: text(300, { description: "Name, address." }),
    contract: billContract,
  }),
  data: { bill: "object", letter: "object", missing: "array", next: "string" },
  answer,
});
