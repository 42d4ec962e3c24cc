/** Secrets of the benchmark's own servers, which listen on loopback and exist only during a run. */
export const CODE_SECRET = "only-for-benchmarks-only-for-benchmarks";
export const WEBHOOK_SECRET = "a-webhook-secret-only-for-benchmarks";
