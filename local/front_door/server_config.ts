/** The front door as configuration of an existing web server: the same routes, the same restored pages. */
import { STRICT_TRANSPORT_SECURITY } from "../../shared/http/transport_security.ts";
import { wordsOf } from "../../shared/words/words.ts";
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
  /** Host name of the site. */
  host: string;
  /** Base URL of the functions, without a trailing slash. */
  functionsUrl: string;
  /** One entry of the functions' `FRONT_DOOR_SECRET`. */
  secret: string;
}

export const SERVERS = { nginx: nginxConfig, caddy: caddyConfig };

const ALLOW = METHODS.join(", ");
const coversBelow = ({ path }: Route) => path.length > 1 && path.endsWith("/");

function nginxConfig({ host, functionsUrl, secret }: Place): string {
  const { origin, pathname } = new URL(functionsUrl);
  const location = (route: Route) => {
    const match = coversBelow(route) ? route.path : `= ${route.path}`;
    const below = coversBelow(route) ? "/" : "";
    const target = `${pathname}${functionPath(route, route.path)}${below}`;
    const body = [
      below ? `rewrite ^${route.path}(.*)$ ${target}$1 break;` : `rewrite ^ ${target} break;`,
      "proxy_pass $functions;",
      ...(route.page ? NGINX_PAGE : []),
      ...(route.secret ? NGINX_UNLOGGED : []),
      ...(route.bodyMb ? [`client_max_body_size ${route.bodyMb}m;`, "error_page 413 @file_too_large;"] : []),
    ];
    return `    location ${match} {\n${body.map((line) => `        ${line}\n`).join("")}    }`;
  };
  return `# Goes into the http block. A page of the functions names its own policy in ${PAGE_POLICY_HEADER}; anything else is passed on as it is.
map $upstream_http_${snake(PAGE_POLICY_HEADER)} $page_type {
    ""      $upstream_http_content_type;
    default "text/html; charset=utf-8";
}
map $upstream_http_${snake(PAGE_POLICY_HEADER)} $page_policy {
    ""      $upstream_http_content_security_policy;
    default $upstream_http_${snake(PAGE_POLICY_HEADER)};
}
# A function names the methods of its address; what is refused here gets the ones that any address serves.
map "$status:$upstream_http_allow" $allow {
    "405:"  "${ALLOW}";
    default "";
}

# With the id by which the functions and the database name a request, and without the query: a mailed link has its secret there.
map $request_uri $logged_path {
    "~^(?<asked_path>[^?]*)" $asked_path;
}
log_format expenses '$remote_addr [$time_iso8601] "$request_method $logged_path" $status $request_time $request_id';

server {
    listen 80;
    server_name ${host};
    access_log off;

    # certbot puts its answers to the certificate authority here.
    location /.well-known/acme-challenge/ {
        root /var/www/html;
    }
    location / {
        return 301 https://$host$request_uri;
    }
}

server {
    listen 443 ssl;
    server_name ${host};
    # As certbot leaves them: certbot certonly --webroot -w /var/www/html -d ${host}
    # The first time, while nginx can't start without them, its default site answers from that folder; at renewals, the
    # server above does. In /etc/letsencrypt/renewal-hooks/deploy/ a script runs: nginx -s reload
    ssl_certificate /etc/letsencrypt/live/${host}/fullchain.pem;
    ssl_certificate_key /etc/letsencrypt/live/${host}/privkey.pem;

    access_log /var/log/nginx/expenses.log expenses;

    # The functions' addresses change: a name in a variable is asked for again, one in proxy_pass only at the start. Your
    # own name server will do as well.
    resolver 1.1.1.1 8.8.8.8 valid=60s ipv6=off;
    set $functions ${origin};

    proxy_http_version 1.1;
${origin.startsWith("https:") ? NGINX_VERIFIED.map((line) => `    ${line}\n`).join("") : ""}    proxy_set_header Host ${
    new URL(functionsUrl).host
  };
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header CF-Connecting-IP "";
    proxy_set_header ${FRONT_DOOR_HEADER} "${secret}";
    proxy_set_header ${REQUEST_ID_HEADER} $request_id;
    proxy_set_header X-Forwarded-Host $host;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_redirect off;
    proxy_buffering off;
    # Slow senders wait here and hold nothing of the functions.
    proxy_request_buffering on;
    client_body_buffer_size 64k;
    client_body_timeout 5s;
    proxy_read_timeout 160s;
    client_max_body_size ${LARGEST_BODY_MB}m;
    error_page 413 @too_large;

${NGINX_ALWAYS.map((line) => `    ${line}\n`).join("")}
    if ($request_method !~ "^(${METHODS.join("|")})$") {
        return 405;
    }

    # An address with a slash at its end is the same address.
    rewrite ^(/.+)/$ $1;

    location / {
        rewrite ^ ${pathname}${functionPath(NOT_FOUND, "/")} break;
        proxy_pass $functions;
${NGINX_PAGE.map((line) => `        ${line}\n`).join("")}    }
${ROUTES.map(location).join("\n")}
${nginxTooLarge("too_large", TOO_LARGE)}
${nginxTooLarge("file_too_large", FILE_TOO_LARGE)}
}
`;
}

const FILE_TOO_LARGE = wordsOf("en").pages.failures.fileTooLarge;
const TOO_LARGE = "That’s too long. Shorten it and try again.";

const nginxTooLarge = (name: string, text: string) =>
  `    location @${name} {
        default_type "text/plain; charset=utf-8";
        return 413 "${text}\\n";
    }`;

/** In nginx, a location that sets headers loses those of its server. */
const NGINX_ALWAYS = [
  "proxy_hide_header Strict-Transport-Security;",
  `add_header Strict-Transport-Security "${STRICT_TRANSPORT_SECURITY}" always;`,
  "add_header Allow $allow always;",
];

/** By itself nginx would send people's sessions and our secret to whoever answers under the functions' name. */
const NGINX_VERIFIED = [
  "proxy_ssl_server_name on;",
  "proxy_ssl_verify on;",
  "proxy_ssl_verify_depth 4;",
  "# As Debian, Ubuntu and Alpine have it; Fedora and its kin: /etc/pki/tls/certs/ca-bundle.crt",
  "proxy_ssl_trusted_certificate /etc/ssl/certs/ca-certificates.crt;",
];

/** nginx quotes the request in its error log too, when the functions don't answer. */
const NGINX_UNLOGGED = ["access_log off;", "error_log /dev/null;"];

const NGINX_PAGE = [
  ...NGINX_ALWAYS,
  "proxy_hide_header Content-Type;",
  "proxy_hide_header Content-Security-Policy;",
  `proxy_hide_header ${PAGE_POLICY_HEADER};`,
  "add_header Content-Type $page_type always;",
  "add_header Content-Security-Policy $page_policy always;",
];

function caddyConfig({ host, functionsUrl, secret }: Place): string {
  const { origin, pathname } = new URL(functionsUrl);
  // The caller's address, whatever trusted_proxies says: the functions trust the first entry.
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
  // Caddy passes events on as they come. With flush_interval it would not tell the functions that a client has left.
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
 * Of several limits on a request the least would count, so each address has only its own. Caddy drops the connection
 * beyond it, so what announces such a length is answered before.
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

/** A pattern of numbers from this one on, which has one or two digits. */
const atLeast = (number: number): string => {
  const [tens, ones] = [Math.floor(number / 10), number % 10];
  return tens === 0
    ? `(?:[${ones}-9]|\\d{2,})`
    : `(?:${tens}[${ones}-9]|${tens < 9 ? `[${tens + 1}-9]\\d|` : ""}\\d{3,})`;
};

const CADDY_UNLOGGED = ["log_skip", "skip_log"].map((name) => `        ${name} true\n`).join("");

/** Caddy knows response headers only by their canonical spelling. */
const CADDY_NAME = PAGE_POLICY_HEADER.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
const snake = (header: string) => header.replaceAll("-", "_");
