/** A signed-in person with a connected app, whose browser and app send any given request. */
import type { FormBrowser } from "../../local/form_browser.ts";
import { formsOf } from "../../local/form_browser.ts";
import { signBody } from "../../shared/billing/signature.ts";
import { connectFor, newPerson } from "../e2e/person.ts";
import { signIn, type TestStack } from "../_support/stack.ts";
import type { Credential, FuzzRequest } from "./requests.ts";

/** A request, and its text for repeating it by hand. */
export interface Sending {
  kind: "http" | "tool" | "webhook" | "form";
  shown: string;
  send(signal: AbortSignal): Promise<Response>;
}

export class FuzzPerson {
  #session!: FormBrowser;
  #token = "";

  private constructor(private readonly stack: TestStack, private readonly email: string) {}

  static async create(stack: TestStack, email: string): Promise<FuzzPerson> {
    const person = new FuzzPerson(stack, email);
    await person.#signIn();
    return person;
  }

  /** The current access token. */
  get token(): string {
    return this.#token;
  }

  /** Signs in again if a request signed the person out or disconnected the app. */
  async staySignedIn(): Promise<void> {
    const account = await this.#session.open("/account");
    const context = await this.tool("get_context", {}).send(AbortSignal.timeout(10_000));
    const isConnected = (await context.text()).includes('"ok":true');
    if (account.url.pathname !== "/account" || !isConnected) await this.#signIn();
  }

  request({ method, path, headers, credential, body }: FuzzRequest): Sending {
    const own: Record<Credential, Record<string, string>> = {
      none: {},
      session: { cookie: this.#session.cookieHeader },
      token: { authorization: `Bearer ${this.#token}` },
      cron: { authorization: `Bearer ${this.stack.cron_secret}` },
      garbage: { authorization: `Bearer exp_at_${"x".repeat(43)}`, cookie: "session=base64-e30; sign-in=x" },
    };
    const all = { ...headers, ...own[credential] };
    if (all.origin === "same") all.origin = this.stack.site_url;
    const isBodiless = /^(get|head)$/i.test(method);
    return {
      kind: "http",
      shown: JSON.stringify({ method, path, headers, credential, body }),
      send: (signal) =>
        fetch(this.stack.site_url + path, {
          method,
          headers: all,
          redirect: "manual",
          body: isBodiless ? undefined : body,
          signal,
        }),
    };
  }

  tool(name: string, args: unknown): Sending {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
    const headers = {
      "authorization": `Bearer ${this.#token}`,
      "content-type": "application/json",
      "accept": "application/json, text/event-stream",
    };
    return {
      kind: "tool",
      shown: body,
      send: (signal) => fetch(this.stack.mcp_url, { method: "POST", headers, body, signal }),
    };
  }

  /** Any bytes, signed as the payment provider signs its events. */
  async webhook(event: string): Promise<Sending> {
    const body = new TextEncoder().encode(event);
    const headers = { "x-payment-signature": await signBody(body, this.stack.payment_webhook_secret) };
    return {
      kind: "webhook",
      shown: event,
      send: (signal) => fetch(`${this.stack.site_url}/api/payment/webhook`, { method: "POST", headers, body, signal }),
    };
  }

  /** The account pages' current forms, to be filled with other texts. */
  async forms(): Promise<((texts: readonly (readonly [field: number, text: string])[]) => Sending)[]> {
    const pages = await Promise.all(["/account", "/account/reminder-email"].map((path) => this.#session.open(path)));
    const forms = pages.flatMap(formsOf).filter(({ method, action }) =>
      method === "post" && action.pathname !== "/logout"
    );
    return forms.map(({ action, fields }) => (texts) => {
      const names = Object.keys(fields);
      const filled = { ...fields };
      for (const [field, text] of texts) filled[names[field % names.length]!] = text;
      const sent = this.request({
        method: "POST",
        path: action.pathname + action.search,
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "sec-fetch-site": "same-origin",
          "origin": "same",
        },
        credential: "session",
        body: new URLSearchParams(filled).toString(),
      });
      return { ...sent, kind: "form" };
    });
  }

  async #signIn(): Promise<void> {
    const person = await newPerson(this.stack, this.email);
    this.#session = (await signIn(this.stack, this.email)).browser;
    this.#token = (await connectFor(person, this.stack.mcp_url)).tokens().access_token;
  }
}
