/**
 * The public site: the front door of the functions, or a proxy in front of the single server, which has its own front
 * door. Also the mailbox for people who sign in by mail.
 */
import { createFrontDoor } from "../../../local/front_door/front_door.ts";
import type { MailSink } from "../../../local/mail/smtp_sink.ts";
import type { Slug } from "../../../shared/routes.ts";
import type { Functions } from "./functions.ts";

export interface Site {
  site_url: string;
  mail_url: string;
  mcp_url: string;
  /** Returns 503 until then. */
  open(functions: Functions): void;
  close(): Promise<void>;
}

const FUNCTIONS = "http://functions";
const MAILBOX = "/local/mail";

export function startSite(
  { inbox, secret, isOneServer }: { inbox: MailSink; secret: string; isOneServer: boolean },
): Site {
  let functions: Functions | undefined;
  const proxy = async (request: Request, { address }: { address: string }) => {
    const { pathname, search } = new URL(request.url);
    const headers = new Headers(request.headers);
    headers.append("x-forwarded-for", address);
    const { method, body } = request;
    const target = `http://127.0.0.1:${functions!.instanceOf("oauth").port}${pathname}${search}`;
    return await fetch(target, { method, headers, body, redirect: "manual" });
  };
  const frontDoor = isOneServer ? proxy : createFrontDoor({
    functionsUrl: FUNCTIONS,
    secret,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const slug = pathname.split("/")[1] as Slug;
      const target = `http://127.0.0.1:${functions!.instanceOf(slug).port}${pathname}${search}`;
      return await fetch(target, {
        method: request.method,
        headers: request.headers,
        body: request.body,
        redirect: "manual",
      });
    },
  });
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request, info) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === MAILBOX) return Response.json(inbox.list(searchParams.get("to") ?? undefined));
    if (!functions) return new Response(null, { status: 503 });
    try {
      return await frontDoor(request, { address: info.remoteAddr.hostname });
    } catch {
      return new Response(null, { status: 502 });
    }
  });
  const url = `http://127.0.0.1:${server.addr.port}`;
  return {
    site_url: url,
    mail_url: url + MAILBOX,
    mcp_url: `${url}/api/mcp`,
    open: (opened) => void (functions = opened),
    close: () => server.shutdown(),
  };
}
