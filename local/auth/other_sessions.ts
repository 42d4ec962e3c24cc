/** Signs out all other sessions (`POST /logout?scope=others`), which lite does not support. */
import { decode } from "hono/jwt";
import type { SqlDatabase } from "../database/sql.ts";

interface OtherSessions {
  database: SqlDatabase;
  /** The response to `GET /user`, which refuses an ended session. */
  readUser(request: Request): Promise<Response>;
}

export async function endOtherSessions(request: Request, { database, readUser }: OtherSessions): Promise<Response> {
  const response = await readUser(
    new Request(new URL("/auth/v1/user", request.url), { headers: headersWithoutBody(request) }),
  );
  if (!response.ok) return response;
  await response.body?.cancel();
  const { payload } = decode(request.headers.get("authorization")!.replace(/^Bearer /i, ""));
  await database.query("delete from auth.sessions where user_id = $1 and id <> $2", [payload.sub, payload.session_id]);
  return new Response(null, { status: 204 });
}

export function headersWithoutBody(request: Request): Headers {
  const headers = new Headers(request.headers);
  for (const name of ["content-length", "content-type"]) headers.delete(name);
  return headers;
}
