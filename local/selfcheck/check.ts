/** Requests to a deployment's public URLs, and findings about the responses. */
import type { Slug } from "../../shared/routes.ts";

export interface Line {
  /** A `note` is information, not a fault. */
  kind: "wrong" | "note";
  text: string;
}

export const wrong = (text: string): Line => ({ kind: "wrong", text });
export const note = (text: string): Line => ({ kind: "note", text });

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body as a JSON object; empty if it is not one. */
  json: Record<string, unknown>;
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
  /** Paths of the sign-in settings that differ between the project and this checkout. */
  signInDifferences?(): Promise<string[]>;
  /** The functions that should exist. */
  slugs: readonly Slug[];
  /** Requests a path or a URL without following redirects. @throws {Error} with a readable message. */
  ask(pathOrUrl: string, init?: RequestInit): Promise<Answer>;
}

/** Yields one line per finding. Must not change anything in the deployment. */
export type Check = (site: Site) => AsyncIterable<Line>;

const DEADLINE_MS = 10_000;

export function createSite(
  { fetch = globalThis.fetch, ...site }: Omit<Site, "ask"> & { fetch?: (request: Request) => Promise<Response> },
): Site {
  return {
    ...site,
    async ask(pathOrUrl, init) {
      const url = pathOrUrl.startsWith("/") ? site.url + pathOrUrl : pathOrUrl;
      try {
        const request = new Request(url, { redirect: "manual", ...init, signal: AbortSignal.timeout(DEADLINE_MS) });
        const response = await fetch(request);
        const text = await response.text();
        return { status: response.status, headers: response.headers, text, json: objectOf(text) };
      } catch (thrown) {
        throw new Error(`${pathOrUrl} does not respond (${thrown instanceof Error ? thrown.message : thrown})`);
      }
    },
  };
}

function objectOf(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Describes an unexpected response. */
export function describe({ status, headers }: Answer): string {
  const location = headers.get("location");
  return location
    ? `${status} to ${location}`
    : `${status} (${headers.get("content-type")?.split(";")[0] ?? "no content type"})`;
}
