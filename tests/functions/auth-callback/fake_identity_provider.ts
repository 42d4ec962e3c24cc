/**
 * An in-memory stand-in for the HTTP API of Supabase Auth 2.190: mails with a link and a code, PKCE codes, sessions.
 * It uses real time, like its client. {@link FakeIdentityProvider.fetch} returns its responses.
 */

export interface SignInMail {
  email: string;
  tokenHash: string;
  code: string;
  redirectTo: string;
  challenge: string;
  type: "signup" | "magiclink";
}

export class FakeIdentityProvider {
  readonly users = new Map<string, { id: string; email: string }>();
  /** Addresses that have signed in before. */
  readonly confirmed = new Set<string>();
  readonly mails: SignInMail[] = [];
  /** Every request, as `METHOD /path`. */
  readonly requests: string[] = [];
  /** Replaces the response, for example with an outage. */
  failure: ((signal: AbortSignal | null | undefined) => Promise<Response>) | undefined;
  /**
   * The remaining requests of a path, for all people together, because all requests come from one IP address. The real
   * limit is 30.
   */
  readonly room = new Map<string, number>();
  #codes = new Map<string, { email: string; challenge: string }>();
  #sessions = new Map<string, { email: string; refreshToken: string }>();

  user(email: string): { id: string; email: string } {
    const known = this.users.get(email) ?? { id: crypto.randomUUID(), email };
    this.users.set(email, known);
    return known;
  }

  /**
   * The redirect after a GET on the mailed link. The first use yields a code, later ones an error in query and
   * fragment.
   */
  async follow(mail: SignInMail): Promise<string> {
    const target = new URL(mail.redirectTo);
    if (!this.#use(mail.tokenHash)) {
      const error = { error: "access_denied", error_code: "otp_expired", error_description: "Email link is invalid" };
      for (const [name, value] of Object.entries(error)) target.searchParams.set(name, value);
      target.hash = new URLSearchParams({ ...error, sb: "" }).toString();
      return await Promise.resolve(target.href);
    }
    const code = crypto.randomUUID();
    this.#codes.set(code, mail);
    target.searchParams.set("code", code);
    return target.href;
  }

  /** Links that confirm a change of the address, mailed to both addresses; the change happens when both are used. */
  readonly changes: { email: string; tokenHash: string; redirectTo: string; from: string; to: string }[] = [];

  readonly fetch: typeof fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    this.requests.push(`${init?.method ?? "GET"} ${url.pathname}`);
    if (this.failure) return await this.failure(init?.signal);
    const room = this.room.get(url.pathname);
    if (room === 0) return refusal(429, "over_request_rate_limit");
    if (room) this.room.set(url.pathname, room - 1);
    const body = init?.body ? JSON.parse(String(init.body)) : {};
    switch (url.pathname) {
      case "/auth/v1/otp":
        return this.#sendMail(body, url);
      case "/auth/v1/admin/generate_link":
        return this.#makeLink(new Headers(init?.headers), body);
      case "/auth/v1/verify":
        return this.#verify(body);
      case "/auth/v1/token":
        return url.searchParams.get("grant_type") === "pkce" ? await this.#exchange(body) : this.#refresh(body);
      case "/auth/v1/user":
        if (init?.method === "PUT") return this.#changeAddress(new Headers(init.headers), body, url);
        return this.#readUser(new Headers(init?.headers).get("authorization") ?? "");
      case "/auth/v1/logout":
        if (url.searchParams.get("scope") === "others") {
          const own = bearer(new Headers(init?.headers).get("authorization"));
          const { email } = this.#sessions.get(own)!;
          for (const [token, session] of this.#sessions) {
            if (token !== own && session.email === email) this.#sessions.delete(token);
          }
          return new Response(null, { status: 204 });
        }
        this.#sessions.delete(bearer(new Headers(init?.headers).get("authorization")));
        return new Response(null, { status: 204 });
    }
    throw new Error(`The fake identity provider has no ${url.pathname}`);
  };

  /** Makes every access token appear expired to its next reader, as after an hour. */
  expiresIn = 3600;
  /** How new sessions begin, as values of the `amr` claim. */
  method = "otp";
  /** The privileged key, which can create links without a mail. */
  secretKey = "sb_secret_test";
  /** Other services with which people have signed in. */
  services: string[] = [];
  /** Suspended people; reported before a code is checked. */
  readonly banned = new Set<string>();

  #sendMail(
    { email, code_challenge, create_user }: { email: string; code_challenge: string; create_user?: boolean },
    url: URL,
  ): Response {
    if (!/^[^@]+@[^@]+$/.test(email)) return refusal(400, "validation_failed");
    if (create_user === false && !this.users.has(email)) return refusal(422, "otp_disabled");
    this.mails.unshift({
      email,
      tokenHash: `pkce_${crypto.randomUUID().replaceAll("-", "")}`,
      code: String(crypto.getRandomValues(new Uint32Array(1))[0]! % 1_000_000).padStart(6, "0"),
      redirectTo: url.searchParams.get("redirect_to")!,
      challenge: code_challenge,
      type: this.users.has(email) ? "magiclink" : "signup",
    });
    this.user(email);
    return Response.json({});
  }

  /** A link without a mail, for the privileged key. */
  #makeLink(headers: Headers, { email, type }: { email: string; type: string }): Response {
    if (headers.get("apikey") !== this.secretKey) return refusal(403, "not_admin");
    if (type === "invite" && this.confirmed.has(email)) return refusal(422, "email_exists");
    const tokenHash = crypto.randomUUID().replaceAll("-", "");
    this.mails.push({ email, tokenHash, code: "", redirectTo: "", challenge: "", type: "magiclink" });
    return Response.json({ ...this.user(email), hashed_token: tokenHash });
  }

  #changeAddress(headers: Headers, { email: to }: { email: string }, url: URL): Response {
    const session = this.#sessions.get(bearer(headers.get("authorization")));
    if (!session) return refusal(403, "session_not_found");
    if (this.users.has(to)) return refusal(422, "email_exists");
    const from = session.email;
    const redirectTo = url.searchParams.get("redirect_to")!;
    this.changes.splice(0);
    for (const email of [from, to]) {
      this.changes.push({ email, tokenHash: `pkce_${crypto.randomUUID()}`, redirectTo, from, to });
    }
    return Response.json({ ...this.user(from), new_email: to });
  }

  #confirmChange(tokenHash: string): Response {
    const index = this.changes.findIndex((change) => change.tokenHash === tokenHash);
    const [change] = index < 0 ? [] : this.changes.splice(index, 1);
    if (!change) return refusal(403, "otp_expired");
    if (this.changes.length > 0) return Response.json({ code: "200", msg: "Confirmation link accepted." });
    const user = this.user(change.from);
    this.users.delete(change.from);
    this.users.set(change.to, { ...user, email: change.to });
    for (const session of this.#sessions.values()) if (session.email === change.from) session.email = change.to;
    return Response.json(this.#session(change.to));
  }

  #use(tokenHash: string): SignInMail | undefined {
    const index = this.mails.findIndex((mail) => mail.tokenHash === tokenHash);
    if (index < 0) return undefined;
    const [mail] = this.mails.splice(index, 1);
    return mail;
  }

  #verify({ token_hash, email, token, type }: Record<string, string>): Response {
    if (type === "email_change") return this.#confirmChange(token_hash!);
    const mail = this.mails.find((sent) =>
      token_hash ? sent.tokenHash === token_hash : sent.email === email && sent.code === token
    );
    if (this.banned.has(email ?? mail?.email ?? "")) return refusal(403, "user_banned");
    if (!mail || !this.#use(mail.tokenHash)) return refusal(403, "otp_expired");
    return Response.json(this.#session(mail.email));
  }

  async #exchange({ auth_code, code_verifier }: Record<string, string>): Promise<Response> {
    const issued = this.#codes.get(auth_code ?? "");
    if (!issued) return refusal(404, "flow_state_not_found");
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(code_verifier));
    const challenge = btoa(String.fromCharCode(...new Uint8Array(digest)))
      .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    if (challenge !== issued.challenge) return refusal(400, "bad_code_verifier");
    this.#codes.delete(auth_code!);
    return Response.json(this.#session(issued.email));
  }

  #refresh({ refresh_token }: Record<string, string>): Response {
    const session = [...this.#sessions.values()].find((known) => known.refreshToken === refresh_token);
    if (!session) return refusal(400, "refresh_token_not_found");
    return this.banned.has(session.email) ? refusal(400, "user_banned") : Response.json(this.#session(session.email));
  }

  #readUser(authorization: string): Response {
    const session = this.#sessions.get(bearer(authorization));
    if (!session) return refusal(403, "session_not_found");
    return this.banned.has(session.email) ? refusal(403, "user_banned") : Response.json(this.user(session.email));
  }

  #session(email: string) {
    this.confirmed.add(email);
    const payload = {
      sub: this.user(email).id,
      email,
      jti: crypto.randomUUID(),
      exp: seconds() + this.expiresIn,
      amr: [{ method: this.method, timestamp: seconds() }],
      app_metadata: { providers: ["email", ...this.services] },
    };
    const accessToken = [{ alg: "HS256", typ: "JWT" }, payload, "signature"].map((part) =>
      btoa(JSON.stringify(part)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
    ).join(".");
    const refreshToken = crypto.randomUUID();
    this.#sessions.set(accessToken, { email, refreshToken });
    return {
      access_token: accessToken,
      refresh_token: refreshToken,
      token_type: "bearer",
      expires_in: this.expiresIn,
      expires_at: payload.exp,
      user: this.user(email),
    };
  }
}

const seconds = () => Math.floor(Date.now() / 1000);
const bearer = (authorization: string | null) => authorization?.replace(/^Bearer /, "") ?? "";
const refusal = (status: number, code: string) =>
  Response.json({ code, error_code: code, msg: code }, { status, headers: { "x-supabase-api-version": "2024-01-01" } });
