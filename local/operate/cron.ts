/** `deno task operate cron reminders`: runs a scheduled job of the running stack now and prints its response. */
import { ROUTES } from "../../shared/routes.ts";
import { DATA_OPTION, fail, print, readCommandLine, taskCommand } from "../command_line.ts";
import { findStack } from "../running_stack.ts";

const PREFIX = "/api/cron/";
const JOBS = ROUTES.filter(({ path }) => path.startsWith(PREFIX)).map(({ path }) => path.slice(PREFIX.length));

const usage = `${taskCommand("operate cron")} <job> [options]

  <job>               one of ${JOBS.join(", ")}
  --period <YYYY-MM>  a past month (provider-sync)
  --data <folder>     where the stack keeps its data (.local)`;

const { values, positionals: [, job] } = readCommandLine({ ...DATA_OPTION, period: { type: "string" } }, usage);
if (!job || !JOBS.includes(job)) fail(usage);

const stack = await findStack(values.data).catch((thrown) => fail(thrown.message));
const query = values.period ? `?${new URLSearchParams({ period: values.period })}` : "";
const response = await fetch(`${stack.supabase_url}${PREFIX}${job}${query}`, {
  headers: { authorization: `Bearer ${stack.cron_secret}` },
});
const text = (await response.text()).trim();
const isJson = response.headers.get("content-type")?.startsWith("application/json");
print(isJson ? JSON.stringify(JSON.parse(text), null, 2) : `${response.status} ${text}`);
if (!response.ok) Deno.exit(1);
