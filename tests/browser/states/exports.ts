/** The export page, and the reasons why it is unavailable. */
import { download } from "../../functions/auth-callback/export_harness.ts";
import { signIn } from "../../functions/auth-callback/harness.ts";
import { EMAIL, LONG, ORGANIZATION_STATE, page, RIGHT_TO_LEFT, signedIn, type State, UNBROKEN } from "./state.ts";

const PATH = "/organizations/org_000000000001/export";

const opened = (organization: string) => ({
  open_export: { outcome: "ok", organization: { name: organization, today: "2026-11-20", state: ORGANIZATION_STATE } },
});

const exporting = (name: string, organization: string): State =>
  signedIn(`export-${name}`, PATH, { answers: opened(organization) });

const withoutPayments = page(
  "export-without-payments",
  async ({ pages }) => await download((await signIn(pages, EMAIL)).browser, PATH, "payments"),
  { answers: { ...opened("Home"), read_export: { outcome: "ok", page: { rows: [], next: null } } } },
);

const notClosed = page(
  "export-not-closed",
  async ({ pages }) =>
    await download((await signIn(pages, EMAIL)).browser, PATH, "payments", { period: "last_month", as: "folder" }),
  { answers: opened("Home") },
);

const refused = (outcome: "refused" | "unknown"): State =>
  signedIn(`export-${outcome}`, PATH, { answers: { open_export: { outcome } } });

export const EXPORT_STATES: readonly State[] = [
  exporting("offered", "Home"),
  exporting("long", LONG),
  exporting("unbroken", UNBROKEN),
  exporting("right-to-left", RIGHT_TO_LEFT),
  withoutPayments,
  notClosed,
  refused("refused"),
  refused("unknown"),
];
