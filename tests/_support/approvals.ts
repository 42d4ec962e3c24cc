/** Rules and proposals of a test's organization, and decisions as on the page. */
import { assertEquals } from "@std/assert";
import type { NewRule } from "../../shared/approvals/proposal.ts";
import type { Books, Json } from "./books.ts";
import type { TestDatabase } from "./database.ts";

const RULE: NewRule = {
  tool: null,
  roles: ["member"],
  over: null,
  currency: null,
  over_records: null,
  approver: "manager",
};

/** The time of a day's calls. */
export const noon = (books: Books) => `${books.today()}T12:00:00Z`;

/** Sets all rules of an organization, as its owner. */
export async function setRules(
  database: TestDatabase,
  owner: Books,
  rules: Partial<NewRule>[],
  { assistants = false } = {},
): Promise<void> {
  const answer = await database.asService<Json>("change_approval_policy", {
    user_id: owner.userId,
    organization_id: owner.organizationId,
    rules: rules.map((rule) => ({ ...RULE, ...rule })),
    assistants_may_approve: assistants,
    at: noon(owner),
  });
  assertEquals(answer, { outcome: "changed" });
}

/** Makes a call that must wait for approval. @returns its proposal's id */
export async function proposes(books: Books, tool: string, args: Json): Promise<string> {
  const error = await books.fails("awaiting_approval", tool, args);
  assertEquals(error.retryable, false);
  return error.details.proposal_id;
}

/** A proposal as its page shows it to a person; undefined without access. */
export async function readProposal(database: TestDatabase, books: Books, id: string): Promise<Json> {
  const answer = await database.asService<Json>("read_proposal", {
    user_id: books.userId,
    proposal_id: id,
    at: noon(books),
  });
  return answer.proposal;
}

/** A click on the page. @param hash defaults to the shown proposal's */
export async function decide(
  database: TestDatabase,
  books: Books,
  id: string,
  decision: "approve" | "refuse" | "withdraw",
  hash?: string,
): Promise<Json> {
  return await database.asService<Json>("decide_proposal", {
    user_id: books.userId,
    proposal_id: id,
    hash: hash ?? (await readProposal(database, books, id))?.hash ?? "none",
    decision,
    at: noon(books),
  });
}

/** Decides as the service does when a person's assistant calls decide_proposal. */
export async function decideAsAssistant(
  database: TestDatabase,
  books: Books,
  { id, hash }: { id: string; hash: string },
): Promise<Json> {
  const [row] = await database.query<{ result: Json }>(
    "select app.settle_proposal($1, $2, 'assistant', $3, 'approve', $4) as result",
    [id, books.userId, hash, noon(books)],
  );
  return row!.result;
}
