/**
 * Answers the pages' requests to the identity provider (shared/http/session.ts). In production the provider answers no
 * others.
 */
const ASKED = [
  "POST /otp",
  "POST /verify",
  "POST /token",
  "GET /user",
  "PUT /user",
  "POST /logout",
  "POST /admin/generate_link",
];

export async function isAskedByPages(request: Request, { searchParams }: URL, path: string): Promise<boolean> {
  if (!ASKED.includes(`${request.method} ${path}`)) return false;
  if (path === "/token") return ["pkce", "refresh_token"].includes(searchParams.get("grant_type") ?? "");
  // The pages can change only the address, because a password would have no use.
  if (request.method === "PUT") return !("password" in await request.clone().json().catch(() => ({})));
  return true;
}
