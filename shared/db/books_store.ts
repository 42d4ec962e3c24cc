/** Database calls of the books page; all run as the signed-in person. */
import { either, outcome } from "../outcome.ts";
import { Glance } from "../books/glance.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";
import { createPageToolStore, PageToolRun } from "./page_tool_store.ts";

export interface Asked {
  userId: string;
  /** The person's first organization if undefined. */
  organizationId: string | undefined;
  /** A day in the shown month; the current month if undefined. */
  month: string | undefined;
  query: string | undefined;
  cursor: string | undefined;
  /** The person's own change set that contains the paid date. */
  paid: string | undefined;
  at: Date;
}

export interface Press {
  userId: string;
  organizationId: string;
  billId: string;
  dueOn: string;
  /** The amount that the page showed; null if none was known. */
  shown: string | null;
  /** The amount to pay if none was known. */
  amount: string | null;
  key: string;
  at: Date;
}

export type BooksStore = ReturnType<typeof createBooksStore>;

export const ANSWERS = {
  read_books: either(Glance, outcome(["unknown"], { organizations: Glance.shape.organizations })),
  pay_due_date: either(PageToolRun, outcome(["unknown", "already", "changed", "busy"])),
};

/** Every method throws what `Database.call` throws. */
export function createBooksStore(database: Database) {
  const ask = asking(database, ANSWERS);
  return {
    read: ({ userId, organizationId, month, query, cursor, paid, at }: Asked) =>
      ask("read_books", {
        user_id: userId,
        organization_id: organizationId ?? null,
        month_on: month ?? null,
        searched: query ?? null,
        cursor: cursor ?? null,
        paid: paid ?? null,
        at,
      }),

    pay: ({ userId, organizationId, billId, dueOn, shown, amount, key, at }: Press) =>
      ask("pay_due_date", {
        user_id: userId,
        organization_id: organizationId,
        bill_id: billId,
        due_on: dueOn,
        shown,
        amount,
        idempotency_key: key,
        at,
      }),

    undo: ({ userId, organizationId, changeId, at }: {
      userId: string;
      organizationId: string;
      changeId: string;
      at: Date;
    }) =>
      createPageToolStore(database).run({
        userId,
        organizationId,
        tool: "undo_change",
        arguments: { change_id: changeId, idempotency_key: `page:${changeId}` },
        at,
      }),
  };
}
