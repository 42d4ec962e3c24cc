/** `@supabase/lite` as the embedded `/rest/v1` and `/auth/v1`: the setup, without corrections. */
import { App, type Connection, type EmailDriver } from "@supabase/lite";

export interface LiteSettings {
  siteUrl: string;
  /** HS256 secret of the access tokens. */
  jwtSecret: string;
  publishableKey: string;
  secretKey: string;
  mailer?: EmailDriver;
}

/** @param connection of `@supabase/lite`, which the app then owns. */
export function createLiteApp(connection: Connection, settings: LiteSettings): App {
  return new App({
    connection,
    api: { schemas: ["public"] },
    auth: {
      enabled: true,
      site_url: settings.siteUrl,
      jwt_secret: settings.jwtSecret,
      publishable_key: settings.publishableKey,
      secret_key: settings.secretKey,
    },
    options: settings.mailer ? { drivers: { email: settings.mailer } } : {},
  });
}
