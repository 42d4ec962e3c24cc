/** A connected app on the account page: one row per grant. */
import * as z from "zod/mini";
import { Access } from "../oauth/access.ts";

export const ConnectedApp = z.object({
  grant_id: z.string(),
  client_id: z.string(),
  client_name: z.string(),
  redirect_uri: z.string(),
  organization_id: z.string(),
  organization_name: z.string(),
  created_at: z.string(),
  last_used_at: z.nullable(z.string()),
  access: Access,
  /** Whether the person's role may write there. */
  role_writes: z.boolean(),
  /** The app's latest change that the database still stores. */
  last_change: z.nullable(z.object({ tool: z.string(), at: z.string() })),
  /** False after the person stopped the app's events. */
  may_subscribe: z.boolean(),
  /** The destinations of its events, one row per event, without expired ones. */
  subscriptions: z.array(z.object({ url: z.string(), name: z.string(), expires_at: z.string() })),
});
export type ConnectedApp = z.infer<typeof ConnectedApp>;
