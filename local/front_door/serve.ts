/**
 * The deployable front door for `deno serve`, Deno Deploy and Cloudflare Workers. `FUNCTIONS_URL` is the functions'
 * base URL, e.g. `https://<project>.supabase.co/functions/v1`; `FRONT_DOOR_SECRET` is the same as theirs.
 */
import { createLog } from "../../shared/log.ts";
import { createFrontDoor, type FrontDoor } from "./front_door.ts";

/**
 * The runtime's second argument: in Deno the caller, without an address on a unix socket; in Workers the environment.
 */
interface Runtime {
  remoteAddr?: { hostname?: string };
  FUNCTIONS_URL?: string;
  FRONT_DOOR_SECRET?: string;
}

let frontDoor: FrontDoor | undefined;

export default {
  fetch(request: Request, runtime: Runtime = {}): Promise<Response> {
    const functionsUrl = runtime.FUNCTIONS_URL ?? globalThis.Deno?.env.get("FUNCTIONS_URL");
    if (!functionsUrl) return Promise.resolve(new Response("FUNCTIONS_URL is not set.\n", { status: 500 }));
    frontDoor ??= createFrontDoor({
      functionsUrl: functionsUrl.replace(/\/+$/, ""),
      secret: firstOf(runtime.FRONT_DOOR_SECRET ?? globalThis.Deno?.env.get("FRONT_DOOR_SECRET")),
      log: createLog(undefined, { function: "front-door" }),
    });
    // Workers pass no caller, but their platform writes this header. Elsewhere anybody can write it.
    const address = "remoteAddr" in runtime ? runtime.remoteAddr?.hostname : request.headers.get("cf-connecting-ip");
    return frontDoor(request, address ? { address } : undefined);
  },
};

/** The functions accept a list, for rotation. */
const firstOf = (list: string | undefined) => list?.split(",")[0]?.trim() || undefined;
