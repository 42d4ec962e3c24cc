/** The export of an organization's books, and why there is none. */
import { LONG, ORGANIZATION_STATE, RIGHT_TO_LEFT, signedIn, type State, UNBROKEN } from "./state.ts";

const PATH = "/organizations/org_000000000001/export";

const exporting = (name: string, organization: string): State =>
  signedIn(`export-${name}`, PATH, {
    answers: {
      open_export: {
        outcome: "ok",
        organization: { name: organization, today: "2026-11-20", state: ORGANIZATION_STATE },
      },
    },
  });

const refused = (outcome: "refused" | "unknown"): State =>
  signedIn(`export-${outcome}`, PATH, { answers: { open_export: { outcome } } });

export const EXPORT_STATES: readonly State[] = [
  exporting("offered", "Home"),
  exporting("long", LONG),
  exporting("unbroken", UNBROKEN),
  exporting("right-to-left", RIGHT_TO_LEFT),
  refused("refused"),
  refused("unknown"),
];
