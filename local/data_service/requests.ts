/** Requests of the rest of the stack to the data service. */
import type { DataService } from "./settings.ts";

/** The token hash of a new sign-in link to an address, without a mail. */
export async function signInToken(
  { url }: DataService,
  request: { email: string; secretKey: string },
): Promise<string> {
  const response = await fetch(`${url}/auth/v1/admin/generate_link`, {
    method: "POST",
    headers: { apikey: request.secretKey, "content-type": "application/json" },
    body: JSON.stringify({ type: "magiclink", email: request.email }),
  });
  const { hashed_token } = await response.json();
  return hashed_token;
}
