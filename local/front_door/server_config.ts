/** The front door as configuration of an existing web server: the same routes, the same restored pages. */
import { STRICT_TRANSPORT_SECURITY } from "../../shared/http/transport_security.ts";
import {
  FRONT_DOOR_HEADER,
  functionPath,
  METHODS,
  NOT_FOUND,
  PAGE_POLICY_HEADER,
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
  const location = (route: Route) => {
    const match = coversBelow(route) ? route.path : `= ${route.path}`;
    const below = coversBelow(route) ? "/" : "";
    const body = [
      `proxy_pass ${functionsUrl}${functionPath(route, route.path)}${below};`,
      ...(route.page ? NGINX_PAGE : []),
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

server {
    listen 443 ssl;
    server_name ${host};
    # ssl_certificate and ssl_certificate_key belong here.

    proxy_http_version 1.1;
    proxy_ssl_server_name on;
    proxy_set_header Host ${new URL(functionsUrl).host};
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header CF-Connecting-IP "";
    proxy_set_header ${FRONT_DOOR_HEADER} "${secret}";
    proxy_set_header X-Forwarded-Host $host;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_redirect off;
    proxy_buffering off;
    proxy_request_buffering off;
    proxy_read_timeout 160s;
    client_max_body_size 2m;

${NGINX_ALWAYS.map((line) => `    ${line}\n`).join("")}
    if ($request_method !~ "^(${METHODS.join("|")})$") {
        return 405;
    }

    # An address with a slash at its end is the same address.
    rewrite ^(/.+)/$ $1;

    location / {
        proxy_pass ${functionsUrl}${functionPath(NOT_FOUND, "/")};
${NGINX_PAGE.map((line) => `        ${line}\n`).join("")}    }
${ROUTES.map(location).join("\n")}
}
`;
}

/** In nginx, a location that sets headers loses those of its server. */
const NGINX_ALWAYS = [
  "proxy_hide_header Strict-Transport-Security;",
  `add_header Strict-Transport-Security "${STRICT_TRANSPORT_SECURITY}" always;`,
  "add_header Allow $allow always;",
];

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
        header_down -Strict-Transport-Security`;
  const methods = `    @refused not method ${METHODS.join(" ")}
    header @refused Allow "${ALLOW}"
    respond @refused 405`;
  const handle = (route: Route) => {
    const below = coversBelow(route);
    const target = pathname + functionPath(route, below ? "{path}" : route.path);
    return `    handle ${route.path}${below ? "*" : ""} {\n        rewrite * ${target}\n        import ${
      route.page ? "page" : "answer"
    }\n    }`;
  };
  return `# A page of the functions names its own policy in ${PAGE_POLICY_HEADER}; anything else is passed on as it is.
(answer) {
${methods}
    reverse_proxy ${origin} {
${caller}
        flush_interval -1
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
    # An address with a slash at its end is the same address.
    @slash path_regexp slash ^(/.+)/$
    rewrite @slash {re.slash.1}
${ROUTES.map(handle).join("\n")}
    handle {
        rewrite * ${new URL(functionsUrl).pathname}${functionPath(NOT_FOUND, "/")}
        import page
    }
}
`;
}

/** Caddy knows response headers only by their canonical spelling. */
const CADDY_NAME = PAGE_POLICY_HEADER.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
const snake = (header: string) => header.replaceAll("-", "_");
