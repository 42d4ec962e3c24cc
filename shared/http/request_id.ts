/**
 * The id of a request, from the front door to the database: in every log line, error page and tool error, in the
 * response's `x-request-id`, and with every database call.
 */
import type { Config } from "../config.ts";
import { REQUEST_ID_HEADER } from "../routes.ts";
import { isFromFrontDoor } from "./front_door.ts";

/** A UUID, with or without its hyphens, as our front door and Caddy create it. */
const FORM = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/;

/**
 * The front door's id, or a new one. A visitor's own id is ignored, because reusing one id would hide requests in the
 * log.
 */
export function requestIdOf(headers: Headers, config: Pick<Config, "frontDoorSecrets">): string {
  const given = headers.get(REQUEST_ID_HEADER);
  const isTaken = given !== null && FORM.test(given) && isFromFrontDoor(headers, config);
  return isTaken ? given : crypto.randomUUID();
}
