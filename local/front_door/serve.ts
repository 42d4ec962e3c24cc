/**
 * The front door as something to deploy: `deno serve` and Deno Deploy, or Cloudflare Workers. `FUNCTIONS_URL` says where the
 * functions are, e.g. `https://<project>.supabase.co/functions/v1`; `FRONT_DOOR_SECRET` is theirs.
 */
import { createFrontDoor, type FrontDoor } from "./front_door.ts";

/** What the runtime hands over beside the request: Deno who called, Workers their environment. */
interface Runtime {
  remoteAddr?: { hostname?: string };
  FUNCTIONS_URL?: string;
  FRONT_DOOR_SECRET?: string;
}

let frontDoor: FrontDoor | undefined;

export default {
  fetch(request: Request, runtime: Runtime = {}): Promise<Response> {
    frontDoor ??= createFrontDoor({
      functionsUrl: (runtime.FUNCTIONS_URL ?? Deno.env.get("FUNCTIONS_URL")!).replace(/\/+$/, ""),
      secret: firstOf(runtime.FRONT_DOOR_SECRET ?? globalThis.Deno?.env.get("FRONT_DOOR_SECRET")),
    });
    const address = runtime.remoteAddr?.hostname ?? request.headers.get("cf-connecting-ip");
    return frontDoor(request, address ? { address } : undefined);
  },
};

/** Of a list, which the functions take for rotation. */
const firstOf = (list: string | undefined) => list?.split(",")[0]?.trim() || undefined;
