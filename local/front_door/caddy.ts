/** The front door as a Caddyfile, with the same routes and page restoration. */
import { STRICT_TRANSPORT_SECURITY } from "../../shared/http/transport_security.ts";
import { LANGUAGES } from "../../shared/words/page_words.ts";
import {
  FRONT_DOOR_HEADER,
  functionPath,
  LARGEST_BODY_MB,
  METHODS,
  NOT_FOUND,
  PAGE_POLICY_HEADER,
  REQUEST_ID_HEADER,
  type Route,
  ROUTES,
} from "../../shared/routes.ts";

export interface Place {
  /** Host name of the site; Caddy serves plain http only if it starts with `http://`. */
  host: string;
  /** Base URL of the functions, without a trailing slash. */
  functionsUrl: string;
  /** One entry of the functions' `FRONT_DOOR_SECRET`. */
  secret: string;
}

const ALLOW = METHODS.join(", ");
const coversBelow = ({ path }: Route) => path.length > 1 && path.endsWith("/");

const FILE_TOO_LARGE = LANGUAGES.en.pages.failures.fileTooLarge;
const TOO_LARGE = "That’s too long. Shorten it and try again.";

export function caddyConfig({ host, functionsUrl, secret }: Place): string {
  const { origin, pathname } = new URL(functionsUrl);
  // The caller's address, regardless of trusted_proxies, because the functions trust the first entry.
  const caller = `        header_up Host {upstream_hostport}
        header_up X-Forwarded-For {remote_host}
        header_up -CF-Connecting-IP
        header_up ${FRONT_DOOR_HEADER} "${secret}"
        header_up ${REQUEST_ID_HEADER} {http.request.uuid}
        header_down -Strict-Transport-Security`;
  const methods = `    @refused not method ${METHODS.join(" ")}
    header @refused Allow "${ALLOW}"
    respond @refused 405`;
  const handle = (route: Route) => {
    const below = coversBelow(route);
    const target = pathname + functionPath(route, below ? "{path}" : route.path);
    const lines = [
      `rewrite * ${target}`,
      ...(route.bodyMb ? caddyBody(route.bodyMb + 1, FILE_TOO_LARGE) : ["import body"]),
      `import ${route.page ? "page" : "answer"}`,
    ];
    return `    handle ${route.path}${below ? "*" : ""} {\n${lines.map((line) => `        ${line}\n`).join("")}    }`;
  };
  // Caddy streams events by default. With flush_interval it would not notify the functions when a client disconnects.
  return `# A page of the functions names its own policy in ${PAGE_POLICY_HEADER}; anything else is passed on as it is.
(body) {
${caddyBody(LARGEST_BODY_MB, TOO_LARGE).map((line) => `    ${line}\n`).join("")}}
(answer) {
${methods}
    # From Caddy 2.6.4 on, "request_buffers 64KiB" in these two blocks makes slow senders wait here.
    reverse_proxy ${origin} {
${caller}
    }
}
(page) {
${methods}
    reverse_proxy ${origin} {
${caller}
        @page header ${PAGE_POLICY_HEADER} *
        handle_response @page {
            header {
                Content-Type "text/html; charset=utf-8"
                Content-Security-Policy {rp.header.${CADDY_NAME}}
                -${PAGE_POLICY_HEADER}
                defer
            }
            copy_response
        }
    }
}

${host} {
    header Strict-Transport-Security "${STRICT_TRANSPORT_SECURITY}"
    # Kept out of the access log; Caddy 2.8 renamed the variable.
${ROUTES.filter(({ secret }) => secret).map(({ path }) => `    vars ${path}* {\n${CADDY_UNLOGGED}    }`).join("\n")}
    # An address with a slash at its end is the same address.
    @slash path_regexp slash ^(/.+)/$
    rewrite @slash {re.slash.1}
${ROUTES.map(handle).join("\n")}
    handle {
        rewrite * ${new URL(functionsUrl).pathname}${functionPath(NOT_FOUND, "/")}
        import body
        import page
    }
}
`;
}

/**
 * Caddy applies the smallest of several limits, so each path has only its own. It drops the connection at the limit,
 * so the rule refuses larger declared lengths first.
 */
const caddyBody = (megabytes: number, text: string) => [
  `@large header_regexp Content-Length ^(?:${atLeast(megabytes)}\\d{6})$`,
  "handle @large {",
  '    header Content-Type "text/plain; charset=utf-8"',
  `    respond "${text}" 413`,
  "}",
  "request_body {",
  `    max_size ${megabytes}MB`,
  "}",
];

/** A regular expression for numbers of at least this one or two-digit number. */
const atLeast = (number: number): string => {
  const [tens, ones] = [Math.floor(number / 10), number % 10];
  return tens === 0
    ? `(?:[${ones}-9]|\\d{2,})`
    : `(?:${tens}[${ones}-9]|${tens < 9 ? `[${tens + 1}-9]\\d|` : ""}\\d{3,})`;
};

const CADDY_UNLOGGED = ["log_skip", "skip_log"].map((name) => `        ${name} true\n`).join("");

/** Caddy knows response headers only by their canonical spelling. */
const CADDY_NAME = PAGE_POLICY_HEADER.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
