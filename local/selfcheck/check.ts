/** The building blocks of deployment checks: requests to public addresses, and lines about the responses. */
import type { Slug } from "../../shared/routes.ts";

export interface Line {
  /** A `note` is worth knowing but not a fault. */
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
  /** Public base URL, without a trailing slash, as the deployment should publish it. */
  url: string;
  /** Base URL of its functions, without a trailing slash, if given. */
  functionsUrl?: string;
  /** The scheduler's secret, which authorizes the deployment's health reports. */
  cronSecret?: string;
  /** The recipient of the test mail. */
  mailTo?: string;
  /** Paths of the sign-in settings in which the project differs from this checkout. */
  signInDifferences?(): Promise<string[]>;
  /** The functions that should exist. */
  slugs: readonly Slug[];
  /**
   * Requests a path of the site, or another URL, without following redirects.
   * @throws {Error} with a readable message, when there is no response.
   */
  ask(pathOrUrl: string, init?: RequestInit): Promise<Answer>;
}

/** Yields a line per finding. Must not change anything in the deployment. */
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
        throw new Error(`${pathOrUrl} does not respond (${thrown instanceof Error ? thrown.message : thrown})`);
      }
    },
  };
}

/** The body as a JSON object; undefined if it is not one. */
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

/** Describes an unexpected response. */
export function describe(answer: Answer): string {
  const type = answer.headers.get("content-type")?.split(";")[0] ?? "no content type";
  const location = answer.headers.get("location");
  return location ? `${answer.status} to ${location}` : `${answer.status} (${type})`;
}
