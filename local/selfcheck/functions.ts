/**
 * Checks that our functions themselves respond. The platform's gateway answers for a function that is missing, fails to
 * start or is behind its token check; only our own responses carry a request id.
 */
import type { Slug } from "../../shared/routes.ts";
import { type Answer, type Line, objectOf, type Site, wrong } from "./check.ts";

/** A request to each function that has no side effects. */
const PROBES: Record<Slug, readonly [method: string, path: string]> = {
  "mcp": ["POST", "/api/mcp"],
  "oauth": ["POST", "/api/oauth/token"],
  "payment-webhook": ["POST", "/api/payment/webhook"],
  "auth-callback": ["GET", "/login"],
  "cron-reminders": ["GET", "/api/cron/reminders"],
  "cron-provider-sync": ["GET", "/api/cron/provider-sync"],
};

/** Finds functions that do not respond; their other checks are skipped. */
export async function askFunctions(site: Site): Promise<{ answering: Slug[]; lines: Line[] }> {
  const answering: Slug[] = [];
  const lines: Line[] = [];
  for (const slug of site.slugs) {
    const [method, path] = PROBES[slug];
    const answer = await site.ask(path, { method });
    if (answer.headers.has("x-request-id")) answering.push(slug);
    else lines.push(wrong(`${method} ${path}: ${whoAnswered(slug, answer)}`));
  }
  return { answering, lines };
}

function whoAnswered(slug: Slug, answer: Answer): string {
  const code = objectOf(answer)?.code;
  if (answer.status === 401) {
    return `the gateway requires a platform token before ${slug} is reached; deploy it with verify_jwt = false (supabase/config.toml)`;
  }
  if (code === "NOT_FOUND") return `the function ${slug} is not deployed`;
  if (answer.status >= 500) {
    return `${slug} does not start (${answer.status}${
      code ? ` ${code}` : ""
    }); its log names every missing or malformed setting`;
  }
  return `something other than ${slug} answers with ${answer.status}; does the front door route this path to it?`;
}
