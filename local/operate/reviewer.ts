/** `deno task operate reviewer create`: gives a directory's reviewer access for the duration of the review. */
import { fail, print, readCommandLine, taskCommand } from "../command_line.ts";
import { changeDatabase, OPERATOR_OPTIONS, OPERATOR_USAGE } from "../operator_database.ts";
import { createReviewer, type Listed, listReviewers, LONGEST_DAYS, revokeReviewer } from "../reviewer/access.ts";

const usage = `${taskCommand("operate reviewer")} <create|list|revoke> [address] [options]

  create <address>   makes an organization with the demo's books, and prints a code that signs in without a mailbox at
                     /review while REVIEW_SIGN_IN is on. No mail goes to the address, which must be yours
  list               every access, with its sign-ins
  revoke <address>   ends an access and its connections at once. The organization of an ended access is deleted after
                     the usual grace

  --days <number>    how long the code works: ${LONGEST_DAYS} at most, and by default
${OPERATOR_USAGE}`;

const { values: { days: given, ...place }, positionals: [, action, email] } = readCommandLine({
  ...OPERATOR_OPTIONS,
  days: { type: "string", default: String(LONGEST_DAYS) },
}, usage);
const days = Number(given);
if (!Number.isInteger(days) || days < 1 || days > LONGEST_DAYS) fail(`--days is a number from 1 to ${LONGEST_DAYS}.`);
if (action !== "list" && !/^[^@\s]+@[^@\s]+$/.test(email ?? "")) fail(usage);

const explain = ({ code, message }: { code?: string; message: string }) =>
  code === "42P01" ? "This database has no reviewers yet: bring its schema up to date first." : message;
const at = new Date();

switch (action) {
  case "create": {
    const { result: { code, organizationId, expiresAt }, where } = await changeDatabase(place, {
      work: (database) => createReviewer(database, { email: email!.toLowerCase(), days, at }),
      usage,
      explain,
    });
    print(`The code, shown only now: ${code}
It signs in at /review as ${email}, who owns ${organizationId} ${where}, until ${expiresAt.toISOString()}.
Set REVIEW_SIGN_IN=on and deploy, or the page answers 404.`);
    break;
  }
  case "revoke": {
    const { where } = await changeDatabase(place, {
      work: (database) => revokeReviewer(database, email!.toLowerCase(), at),
      usage,
      explain,
    });
    print(`The access of ${email} ${where} has ended.`);
    break;
  }
  case "list": {
    const { result, where } = await changeDatabase(place, { work: listReviewers, usage, explain });
    print(result.length > 0 ? result.map(describe).join("\n") : `No reviewer has access ${where}.`);
    break;
  }
  default:
    fail(usage);
}

function describe({ email, organization_id, expires_at, revoked_at, sign_ins, last_sign_in_at }: Listed): string {
  const until = revoked_at ? `revoked ${revoked_at}` : `until ${expires_at}`;
  const last = last_sign_in_at ? `, last ${last_sign_in_at}` : "";
  return `${email}  ${organization_id}  ${until}  ${sign_ins} sign-ins${last}`;
}
