/** Turns plans on once there is a checkout. A service that sells nothing has none, whatever `deno task plans` says stays. */
import { ARE_PLANS_UNDECIDED, SELL_PLANS } from "../plans/switch_plans.ts";
import type { Step } from "./step.ts";

export const plans: Step = {
  title: "Plans",
  async run({ cli, values, isDryRun, project }) {
    if (!values.has("CHECKOUT_URL")) return "unchanged";
    const query = ["db", "query", `--remote=${project}`];
    const asking = cli.run([...query, "--read-only", ARE_PLANS_UNDECIDED]);
    const isUndecided = await asking.then(({ answer }) => (answer as [{ answer: boolean }])[0].answer, (thrown) => {
      // Before the first push there is nothing to ask.
      if (isDryRun && /does not exist/.test((thrown as Error).message)) return true;
      throw thrown;
    });
    if (!isUndecided) return "unchanged";
    const sell = [...query, "--yes", SELL_PLANS];
    if (isDryRun) {
      cli.show(sell, "would run: $");
      return "planned";
    }
    await cli.run(sell);
    return "changed";
  },
};
