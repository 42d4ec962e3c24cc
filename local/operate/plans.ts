/** `deno task operate plans on` or `off`: turns plans on or off for everybody on this service. */
import { fail, print, readCommandLine, taskCommand } from "../command_line.ts";
import { changeDatabase, OPERATOR_OPTIONS, OPERATOR_USAGE } from "../operator_database.ts";
import { switchPlans } from "../plans/switch_plans.ts";

const usage = `${taskCommand("operate plans")} <on|off> [options]

  on                 plans decide what an organization may use; CHECKOUT_URL does the same at the next start or deploy
  off                every organization has all features, for good, and pages say nothing of plans: the default

${OPERATOR_USAGE}`;

const { values: place, positionals: [, to] } = readCommandLine(OPERATOR_OPTIONS, usage);
if (to !== "on" && to !== "off") fail(usage);

const { result: { changed }, where } = await changeDatabase(place, {
  work: (database) => switchPlans(database, to),
  usage,
  explain: ({ code, message }) =>
    code === "42P01" ? "This database has no setting for plans yet: bring its schema up to date first." : message,
});
print(`Plans ${changed ? `are ${to} now` : `were ${to} already`} ${where}.`);
