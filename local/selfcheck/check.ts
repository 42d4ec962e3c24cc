/** What a check of a deployment is made of: questions to its public addresses, and lines about the answers. */
import type { Slug } from "../../shared/routes.ts";

export interface Line {
  /** A `note` is worth knowing and no fault. */
  kind: "wrong" | "note";
  text: string;
}

export const wrong = (text: string): Line => ({ kind: "wrong", text });
export const note = (text: string): Line => ({ kind: "note", text });

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

export interface Site {
  /** Public base, without a slash at the end: what the deployment should call itself. */
  url: string;
  /** Where its functions are, without a slash at the end, when that was told. */
  functionsUrl?: string;
  /** The functions that should be there. */
  slugs: readonly Slug[];
  /**
   * Asks a path of the site, or another URL, and follows nothing.
   * @throws {Error} in words, when there is no answer.
   */
  ask(pathOrUrl: string, init?: RequestInit): Promise<Answer>;
}

/** Each yields a line for everything it finds; no line, no fault. None changes anything at the deployment. */
export type Check = (site: Site) => AsyncIterable<Line>;

const DEADLINE_MS = 10_000;

export function createSite(
  options: Omit<Site, "ask"> & { fetch?: (request: Request) => Promise<Response> },
): Site {
  const { fetch = globalThis.fetch, ...site } = options;
  return {
    ...site,
    async ask(pathOrUrl, init) {
      const url = pathOrUrl.startsWith("/") ? site.url + pathOrUrl : pathOrUrl;
      try {
        const request = new Request(url, { redirect: "manual", ...init, signal: AbortSignal.timeout(DEADLINE_MS) });
        const response = await fetch(request);
        return { status: response.status, headers: response.headers, text: await response.text() };
      } catch (thrown) {
        throw new Error(`${pathOrUrl} gives no answer (${thrown instanceof Error ? thrown.message : thrown})`);
      }
    },
  };
}

/** The body as a JSON object; undefined when it is none. */
export function objectOf({ text }: Answer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value as Record<string, unknown>
      : undefined;
  } catch {
    return undefined;
  }
}

export const isPage = ({ headers, text }: Answer): boolean =>
  /^text\/html\b/i.test(headers.get("content-type") ?? "") && /^\s*<!doctype html/i.test(text);

/** How an answer is spoken of where another was expected. */
export function describe(answer: Answer): string {
  const type = answer.headers.get("content-type")?.split(";")[0] ?? "no content type";
  const location = answer.headers.get("location");
  return location ? `${answer.status} to ${location}` : `${answer.status} (${type})`;
}
