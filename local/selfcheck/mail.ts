/** Mail: a test mail sent by the functions, if an address is given. The only check that leaves a trace. */
import { type Check, describe, note, objectOf, wrong } from "./check.ts";

export const mail: Check = async function* (site) {
  if (!site.mailTo || !site.cronSecret) return;
  const answer = await site.ask("/api/health/mail", {
    method: "POST",
    headers: { "authorization": `Bearer ${site.cronSecret}`, "content-type": "application/json" },
    body: JSON.stringify({ to: site.mailTo }),
  });
  const mark = objectOf(answer)?.mark;
  if (answer.status === 200 && typeof mark === "string") {
    yield note(`Mail: one is on its way to ${site.mailTo}; it is ours if it names the mark ${mark}`);
  } else if (answer.status === 503) {
    yield wrong(
      "Mail: the mail service did not take it; check MAIL_URL and MAIL_FROM (the function's log has the failure code)",
    );
  } else if (answer.status === 400) yield wrong(`Mail: ${site.mailTo} is not an address`);
  else if (answer.status !== 401) yield wrong(`Mail: /api/health/mail answers ${describe(answer)}`);
};
