/** Every provider that amounts can be fetched from, by its key. */
import type { Provider } from "./provider.ts";

export type Registry = ReadonlyMap<string, Provider>;

export const PROVIDERS: Registry = new Map<string, Provider>([]);
