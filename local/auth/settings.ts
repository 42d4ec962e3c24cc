/** The settings of the embedded identity provider, read from `supabase/config.toml`. */
import { parse } from "smol-toml";
import { wordsOf } from "../../shared/words/words.ts";
import { type MailKind, signInText } from "./sign_in_template.tsx";

const ROOT = new URL("../../", import.meta.url);

/** Mails that sign a person in. */
export type SignInKind = Exclude<MailKind, "email_change">;

export interface MailTemplate {
  subject: string;
  html: string;
  text: string;
}

export interface AuthSettings {
  otpLength: number;
  otpExpirySeconds: number;
  templates: Record<MailKind, MailTemplate>;
  /** The Postgres function called before each access token, as `schema.name`; undefined when there is none. */
  accessTokenHook: string | undefined;
}

interface ConfigFile {
  auth: {
    hook: { custom_access_token: { enabled: boolean; uri: string } };
    email: {
      otp_length: number;
      otp_expiry: number;
      template: Record<MailKind, { subject: string; content_path: string }>;
    };
  };
}

export async function readAuthSettings(): Promise<AuthSettings> {
  const file = await Deno.readTextFile(new URL("supabase/config.toml", ROOT));
  const { email, hook } = (parse(file) as unknown as ConfigFile).auth;
  const template = async (kind: MailKind): Promise<MailTemplate> => {
    const { subject, content_path } = email.template[kind];
    return {
      subject,
      html: await Deno.readTextFile(new URL(content_path, ROOT)),
      text: signInText(kind, wordsOf("en")),
    };
  };
  return {
    otpLength: email.otp_length,
    otpExpirySeconds: email.otp_expiry,
    accessTokenHook: hook.custom_access_token.enabled ? functionOf(hook.custom_access_token.uri) : undefined,
    templates: {
      magic_link: await template("magic_link"),
      confirmation: await template("confirmation"),
      email_change: await template("email_change"),
    },
  };
}

/** @throws {Error} unless it is a function in the project's database. */
function functionOf(uri: string): string {
  const [, schema, name] = /^pg-functions:\/\/postgres\/(\w+)\/(\w+)$/.exec(uri) ?? [];
  if (!schema || !name) throw new Error(`The access token hook ${uri} is not pg-functions://postgres/schema/name`);
  return `${schema}.${name}`;
}
