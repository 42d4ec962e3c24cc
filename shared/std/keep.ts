/** Loads a value at its first use. @returns the value of `load`, cached only on success. */
export function keep<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined;
  return () =>
    loading ??= load().catch((thrown) => {
      loading = undefined;
      throw thrown;
    });
}
