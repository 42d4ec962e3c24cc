/** The pages that an operator completes and that reviewers of directories see. */
import { page, type State } from "./state.ts";

const OPERATOR = { operatorName: "Example Ltd", operatorContact: "privacy@example.com", operatorCountry: "Germany" };

export const POLICY_STATES: readonly State[] = [
  page("privacy", ({ browser }) => browser.get("/privacy"), { config: OPERATOR }),
  page("privacy-template", ({ browser }) => browser.get("/privacy")),
  page("terms", ({ browser }) => browser.get("/terms"), { config: OPERATOR }),
  page("review", ({ browser }) => browser.get("/review"), { config: { reviewSignIn: true } }),
];
