/**
 * A headless browser that keeps cookies, follows redirects and submits forms, which is enough for pages that work
 * without scripts. It stays on the site.
 */

export interface Page {
  /** The final URL after all redirects. */
  url: URL;
  status: number;
  html: string;
}

export interface Form {
  action: URL;
  method: string;
  fields: Record<string, string>;
  /** Named buttons: `name=value`. */
  buttons: { name: string; value: string }[];
}

const REDIRECTS = 10;

export class FormBrowser {
  /** Cookies by name, for one site and one path. */
  readonly cookies = new Map<string, string>();

  /** @param site base URL to load pages from, without a trailing slash. */
  constructor(readonly site: string) {}

  /** The `cookie` header, for requests made without the browser. */
  get cookieHeader(): string {
    return Array.from(this.cookies, ([name, value]) => `${name}=${value}`).join("; ");
  }

  /** Loads a page. Returns a redirect to another origin with its status, without following it. */
  async open(
    address: string | URL,
    init: { method?: string; body?: URLSearchParams | FormData; from?: URL } = {},
  ): Promise<Page> {
    let url = new URL(address, this.site);
    let { method = "GET", body } = init;
    for (let hops = 0; hops <= REDIRECTS; hops++) {
      const response = await fetch(url, { method, body, headers: this.headers(init.from), redirect: "manual" });
      this.keepCookies(response.headers);
      const location = response.headers.get("location");
      const html = await response.text();
      if (!location) return { url, status: response.status, html };
      url = new URL(location, url);
      if (url.origin !== this.site) return { url, status: response.status, html };
      // As browsers do for 302 and 303 (Fetch, HTTP-redirect fetch step 12).
      if (response.status !== 307 && response.status !== 308) [method, body] = ["GET", undefined];
    }
    throw new Error(`${address} redirects endlessly`);
  }

  /** Submits a form with some fields filled in; `press` is the value of the clicked button. */
  submit(
    page: Page,
    form: Form,
    { fill = {}, press }: { fill?: Record<string, string>; press?: string } = {},
  ): Promise<Page> {
    const body = new URLSearchParams({ ...form.fields, ...fill });
    const button = form.buttons.find(({ value }) => value === press);
    if (press !== undefined && !button) throw new Error(`${page.url.pathname} has no button ${press}`);
    if (button) body.set(button.name, button.value);
    if (form.method === "post") return this.open(form.action, { method: "POST", body, from: page.url });
    return this.open(new URL(`?${body}`, form.action), { from: page.url });
  }

  /** Submits a form that contains a file. */
  upload(page: Page, form: Form, { name, file }: { name: string; file: File }): Promise<Page> {
    const body = new FormData();
    for (const [field, value] of Object.entries(form.fields)) if (field !== name) body.set(field, value);
    body.set(name, file);
    return this.open(form.action, { method: "POST", body, from: page.url });
  }

  private headers(from: URL | undefined): Record<string, string> {
    return {
      accept: "text/html",
      ...(this.cookies.size > 0 && { cookie: this.cookieHeader }),
      ...(from && { origin: from.origin, referer: from.href, "sec-fetch-site": "same-origin" }),
    };
  }

  private keepCookies(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      const isGone = /;\s*max-age=0\b/i.test(line) || value === "";
      if (isGone) this.cookies.delete(name!);
      else this.cookies.set(name!, value!);
    }
  }
}

/** The first form that `fits`; otherwise throws an error with the page's text. */
export function findForm(page: Page, fits: (form: Form) => boolean = ({ method }) => method === "post"): Form {
  const form = formsOf(page).find(fits);
  if (!form) {
    throw new Error(
      `${page.url.pathname} answered ${page.status} without the form: ${textOf(page.html).slice(0, 300)}`,
    );
  }
  return form;
}

/** The forms of a page with their initial values. */
export function formsOf(page: Page): Form[] {
  return [...page.html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, tag, inner]) => {
    const { action, method } = attributesOf(tag!);
    const controls = [...inner!.matchAll(/<(input|button)\b([^>]*)>/g)].map(([, element, attributes]) => ({
      element,
      ...attributesOf(attributes!),
    })) as Record<string, string | undefined>[];
    const isButton = ({ element, type }: Record<string, string | undefined>) =>
      (element === "button" && type !== "button") || type === "submit";
    return {
      action: new URL(action ?? page.url.href, page.url),
      method: (method ?? "get").toLowerCase(),
      fields: {
        ...selectedOf(inner!),
        ...fieldsOf(controls.filter((control) => control.element === "input" && !isButton(control))),
      },
      buttons: controls.filter(isButton).filter(({ name }) => name).map(({ name, value }) => ({
        name: name!,
        value: value ?? "",
      })),
    };
  });
}

function fieldsOf(controls: Record<string, string | undefined>[]): Record<string, string> {
  const sent = controls.filter(({ name, type, checked, disabled }) =>
    name && disabled === undefined && ((type !== "radio" && type !== "checkbox") || checked !== undefined)
  );
  return Object.fromEntries(sent.map(({ name, value }) => [name!, value ?? ""]));
}

function selectedOf(inner: string): Record<string, string> {
  return Object.fromEntries(
    [...inner.matchAll(/<select\b([^>]*)>(.*?)<\/select>/gs)].map(([, tag, options]) => {
      const all = [...options!.matchAll(/<option\b([^>]*)>/g)].map(([, option]) => attributesOf(option!));
      const chosen = all.find(({ selected }) => selected !== undefined) ?? all[0];
      return [attributesOf(tag!).name ?? "", chosen?.value ?? ""];
    }),
  );
}

function attributesOf(tag: string): Record<string, string | undefined> {
  return Object.fromEntries(
    [...tag.matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, name, value]) => [name!, unescapeHtml(value ?? "")]),
  );
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#34": '"', "#39": "'" };
const unescapeHtml = (text: string) => text.replace(/&(\w+|#\d+);/g, (entity, name) => ENTITIES[name] ?? entity);
const textOf = (html: string) => html.replace(/<(style|script)\b.*?<\/\1>|<[^>]+>/gs, " ").replace(/\s+/g, " ").trim();
