/** Connecting a bill to a provider and disconnecting it: requirements and answers. */
import { assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { addRent, change, show, TODAY } from "./update_bill.ts";

testBooks("update_bill with a provider:", { day: TODAY }, {
  "connect returns the URL to open; disconnect ends the link permanently": async (books, database) => {
    const id = await addRent(books, { amount_mode: "variable", amount: undefined });
    const connect = { bill_id: id, provider: { action: "connect", provider: "openai" } };
    const answer = await books.call("update_bill", connect);
    assertEquals([answer.data.connect, answer.change_id], [{ bill: id, provider: "openai" }, undefined]);
    await database.query(
      "insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status) values ($1, $2, 'openai', 'Ac…01', 'active')",
      [books.organizationId, id],
    );
    const member = await books.join();
    await member.fails("forbidden_role", "update_bill", connect);
    const { change_id } = await change(books, id, { provider: { action: "disconnect" } });
    assertEquals((await show(books, id)).provider, undefined);
    const undo = await books.ok("undo_change", { change_id });
    assertEquals([undo.reversed, undo.not_reversible.length], [[], 1]);
    assertEquals((await show(books, id)).provider, undefined);
  },
  "connect needs a variable bill and a plan that includes fetching": async (books, database) => {
    const id = await addRent(books);
    const connect = { bill_id: id, provider: { action: "connect" } };
    await books.fails("invalid_argument", "update_bill", connect);
    await books.ok("update_bill", { ...connect, set: { amount_mode: "variable" } });
    await database.query("update identity.organizations set plan = 'pro' where id = $1", [books.organizationId]);
    const error = await books.fails("feature_not_in_plan", "update_bill", connect);
    assertEquals(error.details.required_plan, "team");
  },
});
