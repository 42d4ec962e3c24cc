/**
 * Whether pages reach browsers as pages: hosted functions cannot serve HTML on the platform's own domain
 * (docs/operations.md).
 */
import { PAGE_POLICY_HEADER, ROUTES } from "../../shared/routes.ts";
import { type Answer, type Check, describe, isPage, type Line, wrong } from "./check.ts";

/** The paths that are always pages. */
const PAGES = ROUTES.filter(({ path, page }) => page && (path === "/" || !path.endsWith("/")));

export const pages: Check = async function* (site) {
  const own = PAGES.filter(({ slug }) => site.slugs.includes(slug));
  const rewritten: string[] = [];
  for (const { path } of own) {
    const answer = await site.ask(path);
    const policy = answer.headers.get("content-security-policy") ?? "";
    const isPlain = /^\s*<!doctype html/i.test(answer.text) && (!isPage(answer) || /\bsandbox\b/.test(policy));
    if (isPlain) rewritten.push(path);
    else yield* judgePage(site.url, path, answer);
  }
  if (rewritten.length > 0) {
    yield wrong(
      `HTML does not arrive as HTML at ${rewritten.join(", ")}: people see source text; put the front door before ` +
        "the functions (deno task front-door), or a custom domain",
    );
  }
};

function* judgePage(site: string, path: string, answer: Answer): Iterable<Line> {
  const location = answer.headers.get("location");
  if (answer.status >= 300 && answer.status < 400 && location) {
    const host = new URL(location, site).origin;
    if (host !== site) yield wrong(`${path} leads to another host, ${host}; is NEXT_PUBLIC_SITE_URL ${site}?`);
    return;
  }
  if (!isPage(answer)) {
    yield wrong(`${path} answers ${describe(answer)} instead of a page`);
    return;
  }
  if (answer.headers.has(PAGE_POLICY_HEADER)) {
    yield wrong(`${path} still carries ${PAGE_POLICY_HEADER}: the front door is an old one`);
  }
  if (!/frame-ancestors 'none'/.test(answer.headers.get("content-security-policy") ?? "")) {
    yield wrong(`${path} may be framed by other sites: its Content-Security-Policy was lost on the way`);
  }
  if (answer.headers.has("access-control-allow-origin")) {
    yield wrong(`${path} may be read by pages of other sites (CORS)`);
  }
}
