/** The settings of a project behind the fake management API: sign-in, API, and secrets, in the platform's format. */
import { createHash, createHmac } from "node:crypto";
import NAMES from "./auth_setting_names.json" with { type: "json" };

export type Settings = Record<string, unknown>;

export interface ProjectSettings {
  /** GoTrue's names: `site_url`, `smtp_host`, `mailer_templates_magic_link_content`. */
  auth: Settings;
  api: Settings;
  secrets: Map<string, string>;
  /** The platform's response about the secrets: digests. */
  listSecrets(): { name: string; value: string; updated_at: string }[];
  /** The response of `GET /v2/projects/{ref}/config`: digests of secret settings; unset settings are omitted. */
  describe(): unknown;
}

const SECRET_SETTING = /_(pass|secret|secrets)$/;

/** A new project: the sign-in settings that every project has at first. */
export function newSettings(ref: string): ProjectSettings {
  const auth: Settings = {
    // CLI 3.1.0 refuses a response that lacks one of these.
    ...Object.fromEntries(NAMES.map((name) => [name, null])),
    passkey_enabled: false,
    mfa_phone_otp_length: 6,
    password_required_characters: "",
    sms_otp_length: 6,
    oauth_server_enabled: false,
    oauth_server_allow_dynamic_registration: false,
    custom_oauth_enabled: false,
    custom_oauth_max_providers: 0,
    site_url: "http://localhost:3000",
    uri_allow_list: "",
    disable_signup: false,
    external_email_enabled: true,
    mailer_autoconfirm: false,
    mailer_secure_email_change_enabled: true,
    mailer_otp_exp: 3600,
    mailer_otp_length: 8,
    smtp_max_frequency: 60,
    rate_limit_email_sent: 2,
    rate_limit_otp: 30,
    rate_limit_verify: 30,
    rate_limit_token_refresh: 150,
    jwt_exp: 3600,
    refresh_token_rotation_enabled: true,
    security_refresh_token_reuse_interval: 10,
    hook_custom_access_token_enabled: false,
  };
  const api: Settings = {
    db_schema: "public,graphql_public",
    max_rows: 1000,
    db_extra_search_path: "public, extensions",
  };
  const secrets = new Map<string, string>();
  return {
    auth,
    api,
    secrets,
    listSecrets: () =>
      [...secrets].map(([name, value]) => ({
        name,
        value: createHash("sha256").update(value).digest("hex"),
        updated_at: "2026-11-20T08:00:00Z",
      })),
    describe: () => ({
      data: {
        id: ref,
        type: "project_config",
        attributes: {
          auth: Object.fromEntries(
            Object.entries(auth).filter(([, value]) => value !== null).map((
              [name, value],
            ) => [
              name,
              SECRET_SETTING.test(name) ? createHmac("sha256", ref).update(String(value)).digest("hex") : value,
            ]),
          ),
          api,
          database: { major_version: 17, ssl_enforced: false, postgres_settings: {} },
          pooler: {
            default_pool_size: 15,
            max_client_conn: 200,
            pool_mode: "transaction",
            ignore_startup_parameters: "",
          },
          storage: {
            file_size_limit: 52_428_800,
            features: {},
            capabilities: {},
            upstream_target: "main",
            migration_version: "",
          },
        },
      },
    }),
  };
}
