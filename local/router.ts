/** Routes the single port: the front door, and the Supabase services that share its address in production. */
import { FRONT_DOOR_HEADER, METHODS } from "../shared/routes.ts";
import { createFrontDoor } from "./front_door/front_door.ts";
import { refuseMethod } from "./front_door/methods.ts";
import { forward } from "./front_door/proxy.ts";
import { isForwarded } from "./forwarded.ts";
import { FUNCTIONS_ORIGIN, type FunctionsHandler } from "./functions.ts";
import type { Answer } from "./http_server.ts";

export interface Parts {
  functions: FunctionsHandler;
  /** Base URL of the data service's `/rest/v1` and `/auth/v1`. */
  dataUrl: string;
  frontDoorSecret: string;
}

/** The methods of PostgREST and the identity provider. */
const DATA_METHODS = [...METHODS, "PUT", "PATCH"];

export function createRouter({ functions, dataUrl, frontDoorSecret }: Parts): Answer {
  const frontDoor = createFrontDoor({ functionsUrl: FUNCTIONS_ORIGIN, secret: frontDoorSecret, fetch: functions });
  return (request, client) => {
    const { pathname, search } = new URL(request.url);
    const isData = /^\/(rest|auth)\/v1\//.test(pathname);
    const refused = refuseMethod(request, isData ? DATA_METHODS : METHODS);
    if (refused) return refused;
    if (isData) return forward(request, { target: dataUrl + pathname + search, client });
    if (pathname.startsWith("/functions/v1/")) {
      const target = FUNCTIONS_ORIGIN + pathname.slice("/functions/v1".length) + search;
      // As in production, the functions verify the front door's secret.
      const secret = request.headers.get(FRONT_DOOR_HEADER);
      return forward(request, { target, client, ...(secret && { secret }), fetch: functions });
    }
    return frontDoor(request, { ...client, isDirect: !isForwarded(request.headers) });
  };
}
