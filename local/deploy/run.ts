/**
 * Runs the steps of a deployment in order and stops at the first failure. Running the same command again continues
 * from there.
 */
import { secrets } from "./secrets.ts";
import { settingProblems } from "./settings.ts";
import { signIn } from "./sign_in.ts";
import { type Deployment, type Outcome, type Step, StepError } from "./step.ts";
import { functions, link, plans, schema, vault } from "./steps.ts";

/** Sign-in needs the schema, which contains its hook. */
export const STEPS: readonly Step[] = [link, secrets, schema, signIn, vault, plans, functions];

const OUTCOMES: Record<Outcome, string> = {
  changed: "done",
  unchanged: "nothing to do",
  planned: "to be done",
};

/** @returns whether every step succeeded, and their outcomes. */
export async function deploy(deployment: Deployment): Promise<{ ok: boolean; outcomes: Outcome[] }> {
  const { say } = deployment;
  const problems = settingProblems(deployment.values, deployment);
  if (problems.length > 0) {
    say(`${deployment.envPath} can't be used as it is, and nothing was done:`);
    for (const problem of problems) say(`  ${problem}`);
    return { ok: false, outcomes: [] };
  }
  const outcomes: Outcome[] = [];
  for (const [index, step] of STEPS.entries()) {
    say(`${index + 1}. ${step.title}`);
    try {
      const outcome = await step.run(deployment);
      outcomes.push(outcome);
      say(`  ${OUTCOMES[outcome]}`);
    } catch (thrown) {
      if (!(thrown instanceof StepError)) throw thrown;
      say(`  failed: ${thrown.message}`);
      say(
        "The steps after it were not run. Once the reason is gone, run the same command again: it goes on from here.",
      );
      return { ok: false, outcomes };
    }
  }
  return { ok: true, outcomes };
}
