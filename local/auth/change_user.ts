/** `PUT /user`: a change of address sends mails to both addresses; lite handles any other change. */
import type { SqlDatabase } from "../database/sql.ts";
import { requestAddressChange } from "./address_change.ts";
import { emailExists, malformedAddress } from "./failure.ts";
import { renderMail } from "./mail_template.ts";
import { ADDRESS } from "./one_time_tokens.ts";
import { headersWithoutBody } from "./other_sessions.ts";
import type { AuthSettings } from "./settings.ts";

interface ChangeOptions {
  database: SqlDatabase;
  settings: AuthSettings;
  siteUrl: string;
  sendMail(mail: { to: string; subject: string; html: string; text: string }): Promise<void>;
  passOn(request: Request): Promise<Response>;
  /** The response to `GET /user`, which refuses an ended session. */
  readUser(request: Request): Promise<Response>;
  allowedRedirect(place: string | null): string;
}

export async function changeUser(request: Request, options: ChangeOptions): Promise<Response> {
  const { database, settings, passOn, readUser, allowedRedirect } = options;
  const url = new URL(request.url);
  const { email, code_challenge } = await request.clone().json().catch(() => ({}));
  if (!email) return await passOn(request);
  const response = await readUser(new Request(url, { headers: headersWithoutBody(request) }));
  if (!response.ok) return response;
  const user = await response.json();
  const to = String(email).trim().toLowerCase();
  if (!ADDRESS.test(to)) return malformedAddress();
  if (to === user.email) return Response.json(user);
  const asked = { userId: user.id, from: user.email, to, isPkce: Boolean(code_challenge) };
  const mails = await database.transaction((session) => requestAddressChange(session, settings, asked));
  if (!mails) return emailExists();
  for (const mail of mails) {
    const rendered = renderMail(settings.templates.email_change, {
      SiteURL: options.siteUrl,
      RedirectTo: allowedRedirect(url.searchParams.get("redirect_to")),
      TokenHash: mail.hash,
      Token: mail.digits,
      Email: user.email,
      NewEmail: to,
    });
    await options.sendMail({ to: mail.to, ...rendered });
  }
  return Response.json({ ...user, new_email: to });
}
