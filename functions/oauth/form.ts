/**
 * Reads the form of the token and revocation endpoints: urlencoded, small, no repeated parameters, from a public
 * client.
 */
import type { AppContext } from "../../shared/http/app.ts";
import { readText } from "../../shared/http/read_body.ts";
import { isClientId } from "../../shared/oauth/client_id.ts";
import { MAX_BODY_BYTES } from "../../shared/oauth/limits.ts";
import { readParameters } from "../../shared/oauth/parameters.ts";
import { refuse } from "./errors.ts";
import type { AuthorizationServer } from "./server.ts";

export type Form<Name extends string> = Partial<Record<Name, string>>;

/**
 * @returns the form, or the error response. JSON is refused like any other type, because RFC 6749 allows only forms.
 * @throws {AppError} `payload_too_large`
 */
export async function readForm<Name extends string>(
  c: AppContext,
  server: AuthorizationServer,
  names: readonly Name[],
): Promise<Form<Name> | Response> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(c.req.header("content-type") ?? "")) {
    return refuse(c, server, "body_not_a_form");
  }
  const read = readParameters(new URLSearchParams(await readText(c, MAX_BODY_BYTES)), names);
  return read.ok ? read.values : refuse(c, server, "parameter_repeated", { detail: `${read.repeated} was sent twice` });
}

/** The form with these parameters present and a well-formed client id, or the error response. */
export function requireParameters<Name extends string, Required extends Name>(
  c: AppContext,
  server: AuthorizationServer,
  { form, required }: { form: Form<Name>; required: readonly Required[] },
): Form<Name> & Record<Required | "client_id", string> | Response {
  if (/^basic /i.test(c.req.header("authorization") ?? "")) return refuse(c, server, "client_sent_credentials");
  const all: readonly string[] = ["client_id", ...required];
  const missing = all.find((name) => !form[name as Name]);
  if (missing) return refuse(c, server, "parameter_missing", { detail: `${missing} is required` });
  const complete = form as Form<Name> & Record<Required | "client_id", string>;
  return isClientId(complete.client_id) ? complete : refuse(c, server, "client_id_malformed");
}
