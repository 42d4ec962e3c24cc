/** The transport: https only, with HSTS. */
import { type Check, describe, note, wrong } from "./check.ts";

const HALF_A_YEAR = 15_552_000;

export const transport: Check = async function* (site) {
  const { protocol, host, hostname } = new URL(site.url);
  if (protocol !== "https:") {
    const isLoopback = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
    if (!isLoopback) yield wrong(`${site.url} is not https: codes and tokens would cross the network in the clear`);
    return;
  }
  const answer = await site.ask("/login");
  const [, seconds = "0"] = /max-age=(\d+)/.exec(answer.headers.get("strict-transport-security") ?? "") ?? [];
  if (Number(seconds) < HALF_A_YEAR) {
    yield note("No Strict-Transport-Security of half a year or more: a first visit by http can be intercepted");
  }
  // A closed port 80 is as good as a redirect.
  const plain = await site.ask(`http://${host}/login`).catch(() => undefined);
  const isSafe = !plain || plain.status >= 400 || (plain.headers.get("location") ?? "").startsWith("https://");
  if (!isSafe) yield wrong(`http://${host}/login answers ${describe(plain)} instead of redirecting to https`);
};
