/**
 * The account pages over a fake identity provider and a database of the caller's choice, and a browser that visits
 * them.
 */
import { createAuthCallbackApp } from "../../../functions/auth-callback/app.ts";
import { type Config, readConfig } from "../../../shared/config.ts";
import type { Database } from "../../../shared/db/client.ts";
import { BROWSER_TOKEN } from "../../../shared/http/browser_token.ts";
import { createLog } from "../../../shared/log.ts";
import { PROVIDERS, type Registry } from "../../../shared/providers/registry.ts";
import type { Languages } from "../../../shared/words/page_words.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { FakeIdentityProvider } from "./fake_identity_provider.ts";

export const NOW = new Date("2026-11-20T10:00:00Z");

export interface Pages {
  app: ReturnType<typeof createAuthCallbackApp>;
  provider: FakeIdentityProvider;
  config: Config;
  log: string[];
  /** Mails that the service itself sent, newest last. */
  mails: { to: string; subject: string; text: string; html: string }[];
  clock: { now: Date };
  /** The responses of bill providers, which are unreachable until a test sets one. */
  ask: { answer: (request: Request) => Response | Promise<Response>; asked: Request[] };
  /** A new browser without cookies. */
  browser(): Browser;
}

export function createPages(
  database: Database,
  overrides: Partial<Config> = {},
  providers: Registry = PROVIDERS,
  languages?: Languages,
): Pages {
  const config: Config = {
    ...readConfig({
      NEXT_PUBLIC_SITE_URL: "https://expenses.example",
      SUPABASE_URL: "https://project.example",
      SUPABASE_PUBLISHABLE_KEYS: "sb_publishable_test",
      DATABASE_SERVICE_ROLE_KEY: "sb_secret_test",
      OAUTH_CODE_SECRET: "a-secret-of-more-than-thirty-two-bytes",
      CREDENTIALS_KEY: btoa("k".repeat(32)),
      MAIL_URL: "resend://key",
      INBOUND_URL: "raw://server:a-secret-of-the-mail-server@in.expenses.example",
      MAIL_FROM: "Expenses <expenses@expenses.example>",
    }, []),
    ...overrides,
  };
  const provider = new FakeIdentityProvider();
  const log: string[] = [];
  const mails: Pages["mails"] = [];
  const clock = { now: NOW };
  const ask: Pages["ask"] = { asked: [], answer: () => Promise.reject(new TypeError("nobody is there")) };
  const addresses = [...providers.values()].map(({ base }) => base ?? "");
  const app = createAuthCallbackApp(
    {
      config,
      database,
      clock: () => clock.now,
      log: createLog((line) => log.push(line)),
      fetch: async (input, init) => {
        if (addresses.some((address) => address && String(input).startsWith(address))) {
          const request = new Request(input, init);
          ask.asked.push(request);
          return await ask.answer(request);
        }
        if (String(input) !== "https://api.resend.com/emails/batch") return await provider.fetch(input, init);
        mails.push(...JSON.parse(String(init?.body)).map((mail: { to: [string] }) => ({ ...mail, to: mail.to[0] })));
        return Response.json({ data: [{ id: "1" }] });
      },
      guardedFetch: () => Promise.reject(new Error("pages fetch nothing of other people's choosing")),
    },
    providers,
    languages,
  );
  return { app, provider, config, log, mails, clock, ask, browser: () => new Browser(app, config.siteUrl) };
}

/** A test's database in the functions' form. */
export const over = (database: TestDatabase): Database => ({
  call: (name, args) => database.asService(name, args),
});

/** A fake database that returns results by function name, for tests that need no real one. */
export const answering = (answers: Record<string, unknown>): Database => ({
  call: (name) => name in answers ? Promise.resolve(answers[name]) : Promise.reject(new Error(`unexpected ${name}`)),
});

/** Keeps cookies and submits forms like a browser that has opened one of our pages. Follows no redirects by itself. */
export class Browser {
  readonly cookies = new Map<string, string>();

  /** The token that ties our forms to the browser, from its first page. */
  #known: Promise<{ cookie: string; token: string }> | undefined;

  constructor(private readonly app: Pages["app"], private readonly siteUrl: string) {}

  async get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return await this.#send(path, { headers });
  }

  async post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
    const { token } = await (this.#known ??= this.#firstPage());
    return await this.send(path, new URLSearchParams({ [BROWSER_TOKEN]: token, ...fields }), headers);
  }

  /** Posts a body of any kind, as one of our forms would. */
  async send(path: string, body: BodyInit, headers: Record<string, string> = {}): Promise<Response> {
    const ours = { "sec-fetch-site": "same-origin", "origin": this.siteUrl, ...headers };
    return await this.#send(path, { method: "POST", headers: ours, body });
  }

  /** Chooses a file in a page's upload form, and submits it. */
  async upload(page: string, file: File | undefined, headers: Record<string, string> = {}): Promise<Response> {
    const form = formsOf(page).find(({ html }) => html.includes('type="file"'));
    if (!form) throw new Error("There is no form that takes a file");
    const body = new FormData();
    for (const [name, value] of Object.entries(form.fields)) if (name !== "file") body.set(name, value);
    // The value that browsers send without a chosen file.
    body.set("file", file ?? new File([], "", { type: "application/octet-stream" }));
    return await this.send(form.action, body, headers);
  }

  /** Fills in the form for `action` (its path, or a field's value) and submits it. */
  async submit(page: string, about: string, fields: Record<string, string> = {}): Promise<Response> {
    const form = formsOf(page).find(({ html }) => html.includes(about));
    if (!form) throw new Error(`There is no form about ${about}`);
    return await this.post(form.action, { ...form.fields, ...fields });
  }

  async #firstPage(): Promise<{ cookie: string; token: string }> {
    const response = await this.app.request(new URL("/login", this.siteUrl).href);
    const { [BROWSER_TOKEN]: token } = formsOf(await response.text())[0]!.fields;
    return { cookie: response.headers.getSetCookie()[0]!.split(";")[0]!, token: token! };
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    const { cookie } = await (this.#known ??= this.#firstPage());
    headers.set("cookie", [cookie, ...[...this.cookies].map(([name, value]) => `${name}=${value}`)].join("; "));
    const response = await this.app.request(new URL(path, this.siteUrl).href, { ...init, headers });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value, attributes] = /^([^=]+)=([^;]*)(.*)$/.exec(cookie)!;
      if (/max-age=0\b/i.test(attributes!)) this.cookies.delete(name!);
      else this.cookies.set(name!, value!);
    }
    return response;
  }
}

/** Signs in a new browser through the mailed link. Returns it and the callback's redirect target. */
export async function signIn(
  pages: Pages,
  email: string,
  next?: string,
): Promise<{ browser: Browser; location: string }> {
  const browser = pages.browser();
  await browser.post(next ? `/login?next=${encodeURIComponent(next)}` : "/login", { email });
  const link = new URL(await pages.provider.follow(pages.provider.mails[0]!));
  const response = await browser.get(link.pathname + link.search);
  return { browser, location: response.headers.get("location") ?? "" };
}

export interface HtmlForm {
  action: string;
  fields: Record<string, string>;
  html: string;
}

/** A page's forms with the values of their inputs and selects. */
export function formsOf(html: string): HtmlForm[] {
  return [...html.matchAll(/<form [^>]*action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(([, action, inner]) => {
    const inputs = [...inner!.matchAll(/<input [^>]*>/g)].map(([tag]) => tag)
      .filter((tag) => !/type="(radio|checkbox)"/.test(tag) || tag.includes("checked"))
      .map((tag) => [attribute(tag, "name"), attribute(tag, "value", /checkbox/.test(tag) ? "on" : "")]);
    const selects = [...inner!.matchAll(/<select [^>]*name="([^"]*)"[^>]*>(.*?)<\/select>/gs)].map((
      [, name, options],
    ) => [
      name!,
      attribute(/<option [^>]*selected[^>]*>/.exec(options!)?.[0] ?? "", "value"),
    ]);
    return { action: unescape(action!), fields: Object.fromEntries([...inputs, ...selects]), html: inner! };
  });
}

const attribute = (tag: string, name: string, absent = "") =>
  unescape(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? absent);
const ENTITIES: Record<string, string> = { "&amp;": "&", "&quot;": '"', "&#39;": "'", "&lt;": "<", "&gt;": ">" };
const unescape = (text: string) => text.replace(/&(amp|quot|#39|lt|gt);/g, (entity) => ENTITIES[entity]!);
