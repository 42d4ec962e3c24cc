import type { Registry } from "../../../../shared/providers/registry.ts";

/** A provider's display name, or its key if we no longer support it. */
export const providerName = (providers: Registry, key: string): string => providers.get(key)?.name ?? key;
