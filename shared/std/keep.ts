/**
 * For what is loaded at its first use. @returns what `load` resolves with, kept once it did: a failure must not last.
 */
export function keep<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined;
  return () =>
    loading ??= load().catch((thrown) => {
      loading = undefined;
      throw thrown;
    });
}
