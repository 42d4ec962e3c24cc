/**
 * The identity provider's own client in the server configuration: PKCE, with a store that tests can inspect or clear.
 */
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import type { RunningStack } from "../../local/running_stack.ts";

export interface AuthClient {
  auth: SupabaseClient["auth"];
  /** The client's storage between calls: verifiers and the session. */
  store: Map<string, string>;
}

export function authClient(stack: RunningStack, key = stack.publishable_key): AuthClient {
  const store = new Map<string, string>();
  const { auth } = createClient(stack.supabase_url, key, {
    auth: {
      flowType: "pkce",
      autoRefreshToken: false,
      detectSessionInUrl: false,
      persistSession: true,
      storage: {
        getItem: (name) => store.get(name) ?? null,
        setItem: (name, value) => void store.set(name, value),
        removeItem: (name) => void store.delete(name),
      },
    },
  });
  return { auth, store };
}
