/**
 * Completes sessions that lite creates, as the real identity provider would: records the sign-in method, adds the
 * claims that lite omits from the access token, and runs the custom access token hook, which may reject the session.
 */
import { decode, sign } from "hono/jwt";
import type { SqlDatabase } from "../database/sql.ts";

export interface SessionAnswer {
  access_token?: string;
  user?: { id: string; app_metadata: unknown; user_metadata: unknown; phone?: string; is_anonymous?: boolean };
}

export interface SessionOptions {
  database: SqlDatabase;
  /** Base URL of the identity provider, `…/auth/v1`. */
  issuer: string;
  jwtSecret: string;
  /** `schema.name` of the hook. */
  hook: string | undefined;
  /** The sign-in method for the claim `amr`; `token_refresh` adds nothing. */
  method: string;
}

/** A hook's refusal, instead of the claims. */
export interface HookRefusal {
  http_code: number;
  message: string;
}

type Finished = { answer: SessionAnswer } | { refusal: HookRefusal };

export async function finishSession(answer: SessionAnswer, options: SessionOptions): Promise<Finished> {
  if (!answer.access_token || !answer.user) return { answer };
  const { payload } = decode(answer.access_token);
  const { database, method } = options;
  if (method !== "token_refresh") {
    await database.query(
      `insert into auth.mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
       values (gen_random_uuid(), $1, $2, now(), now())`,
      [payload.session_id, method],
    );
  }
  const amr = await database.query<{ method: string; timestamp: number }>(
    `select authentication_method as method, extract(epoch from updated_at)::int as timestamp
     from auth.mfa_amr_claims where session_id = $1 order by updated_at desc`,
    [payload.session_id],
  );
  const claims = {
    iss: options.issuer,
    ...payload,
    phone: answer.user.phone ?? "",
    app_metadata: answer.user.app_metadata,
    user_metadata: answer.user.user_metadata,
    aal: "aal1",
    amr,
    is_anonymous: answer.user.is_anonymous ?? false,
  };
  const asked = await askHook({ user_id: answer.user.id, claims, authentication_method: method }, options);
  if ("error" in asked) {
    // The real provider does all of this in one transaction.
    await database.query("delete from auth.sessions where id = $1", [payload.session_id]);
    return { refusal: asked.error };
  }
  return { answer: { ...answer, access_token: await sign(asked.claims, options.jwtSecret, "HS256") } };
}

interface HookEvent {
  user_id: string;
  claims: Record<string, unknown>;
  authentication_method: string;
}

async function askHook(
  event: HookEvent,
  { database, hook }: SessionOptions,
): Promise<{ claims: Record<string, unknown> } | { error: HookRefusal }> {
  if (!hook) return event;
  const [row] = await database.query<{ output: HookEvent | { error: HookRefusal } }>(
    `select ${hook}($1::text::jsonb) as output`,
    [JSON.stringify(event)],
  );
  return row!.output;
}
