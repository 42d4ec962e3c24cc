/**
 * Targets by row. Ratios apply to any machine, milliseconds to two idle cores at about 2.6 GHz. On another machine,
 * compare the row's ratio to one indexed statement.
 */
import type { Target } from "./measure/row.ts";

const atLeast = (limit: number): Target => ({ limit, atLeast: true });
const atMost = (limit: number): Target => ({ limit });

export const TARGETS: Record<string, Target> = {
  "registration / better-auth": atLeast(6),
  "code / better-auth": atLeast(6),
  "refresh / better-auth": atLeast(6),
  "get_context / better-auth": atLeast(6),
  "registration / floor": atLeast(0.55),
  "code / floor": atLeast(0.55),
  "refresh / floor": atLeast(0.55),
  "get_context / floor": atLeast(0.55),
  "webhook / floor": atLeast(0.65),
  "processor of get_context": atMost(1.6),

  "sql: token check": atMost(0.15),
  "sql: get_context": atMost(0.7),
  "sql: list_expenses, 10": atMost(1.2),
  "sql: log_expenses, 1": atMost(1.5),
  "sql: list_bills": atMost(2),
  "sql: month summary": atMost(2),
  "sql: page of the books": atMost(30),
  "sql: review_bills": atMost(50),
  "sql: forecast": atMost(50),
  "sql: recurring charges": atMost(50),
  "sql: 2,000 rows committed": atMost(800),
  "sql: 2,000 rows undone": atMost(400),

  "import: 5,000 rows committed, never analyzed": atMost(4_000),
  "import: 5,000 rows committed, analyzed while small": atMost(4_000),
  "import: 5,000 rows committed, analyzed when large": atMost(4_000),
  "import: 50,000 rows, from the file to the books": atMost(45_000),
  "import: 50,000 rows, heap": atMost(115_000),
  "import: preview of 2,000 rows": atMost(2_000),
  "import: processor of the worst request": atMost(2_000),

  "large: list_expenses of a month": atMost(5),
  "large: list_expenses": atMost(50),
  "large: month summary": atMost(8),
  "large: 12 months": atMost(60),
  "large: list_bills": atMost(10),
  "50,000 payments: forecast": atMost(2_000),
  "50,000 payments: recurring charges": atMost(2_000),
  // Half the statement timeout.
  "50,000 payments: review_bills": atMost(4_000),

  "redemption of a person with 2,000 grants": atMost(1.2),
  "redemption through a client with 2,000 grants": atMost(1.2),

  "cold start: mcp": atMost(2.2),
  "cold start: oauth": atMost(1.5),
  "cold start: payment-webhook": atMost(1.5),
  "cold start: auth-callback": atMost(1.5),
  "cold start: cron-reminders": atMost(1.5),
  "cold start: cron-provider-sync": atMost(1.5),
  "cold start: inbound-mail": atMost(1.5),
  "cold start: mcp, bundled": atMost(2.2),
  "cold start: oauth, bundled": atMost(1.5),
  "cold start: payment-webhook, bundled": atMost(1.5),
  "cold start: auth-callback, bundled": atMost(1.5),
  "cold start: cron-reminders, bundled": atMost(1.5),
  "cold start: cron-provider-sync, bundled": atMost(1.5),
  "cold start: inbound-mail, bundled": atMost(1.5),

  "bundle: mcp": atMost(180),
  "bundle: auth-callback": atMost(110),
  "bundle: oauth": atMost(80),
  "bundle: payment-webhook": atMost(80),
  "bundle: cron-reminders": atMost(80),
  "bundle: cron-provider-sync": atMost(80),
  "bundle: inbound-mail": atMost(80),

  "code: local": atMost(6_690),
  "code: supabase/schemas": atMost(20_075),
  "code: longest SQL file": atMost(300),
  "code: steps of tests": atMost(0),
  "code: product files of a tool": atMost(5),
  "code: tasks": atMost(15),
  "code: decisions": atMost(45),
};
