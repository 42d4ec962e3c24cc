/**
 * The protected-resource document (RFC 9728 §2) of one of the connector's URLs. `resource` is the requested URL,
 * because clients compare it with the configured one.
 */
import { SCOPE } from "../../shared/oauth/scope.ts";
import type { AppContext } from "../../shared/http/app.ts";
import type { Urls } from "../../shared/urls.ts";

/** @param links policy and documentation pages, if any. */
export function protectedResource(
  c: AppContext,
  { resource, issuer, title }: { resource: string; issuer: Urls["issuer"]; title: string },
  links: { documentation?: string; privacyUrl?: string; termsUrl?: string },
): Response {
  const document = {
    resource,
    authorization_servers: [issuer],
    scopes_supported: [SCOPE],
    bearer_methods_supported: ["header"],
    resource_name: title,
    resource_documentation: links.documentation,
    resource_policy_uri: links.privacyUrl,
    resource_tos_uri: links.termsUrl,
  };
  return c.json(document, 200, { "cache-control": "public, max-age=300" });
}
