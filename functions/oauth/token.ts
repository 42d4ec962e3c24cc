/** The token endpoint (RFC 6749 §3.2). It checks grant_type before the client. */
import { refuse } from "./errors.ts";
import { readForm } from "./form.ts";
import { exchangeCode } from "./grant_authorization_code.ts";
import { exchangeRefreshToken } from "./grant_refresh_token.ts";
import type { Endpoint } from "./server.ts";

const PARAMETERS = [
  "grant_type",
  "client_id",
  "code",
  "code_verifier",
  "redirect_uri",
  "refresh_token",
  "resource",
] as const;

export const token: Endpoint = async (c, server) => {
  const form = await readForm(c, server, PARAMETERS);
  if (form instanceof Response) return form;
  switch (form.grant_type) {
    case "authorization_code":
      return await exchangeCode(c, server, form);
    case "refresh_token":
      return await exchangeRefreshToken(c, server, form);
    case undefined:
      return refuse(c, server, "parameter_missing", { detail: "grant_type is required" });
    default:
      return refuse(c, server, "grant_type_unsupported");
  }
};
