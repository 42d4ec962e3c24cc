/** `@supabase/lite` as the embedded `/rest/v1` and `/auth/v1`: the setup, without corrections. */
import { App, type Connection } from "@supabase/lite";
import type { DataServiceSettings } from "../data_service/settings.ts";

export type LiteSettings = Pick<DataServiceSettings, "siteUrl" | "jwtSecret" | "publishableKey" | "secretKey">;

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
  });
}
