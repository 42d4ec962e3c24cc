/** The pages' requests to the identity provider (shared/http/session.ts); in production it answers nothing else. */
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
  // The pages change only the address; a password would open nothing.
  if (request.method === "PUT") return !("password" in await request.clone().json().catch(() => ({})));
  return true;
}
