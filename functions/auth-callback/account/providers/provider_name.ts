import type { Registry } from "../../../../shared/providers/registry.ts";

/** What people call a provider; its key, where it is one that we no longer ask. */
export const providerName = (providers: Registry, key: string): string => providers.get(key)?.name ?? key;
