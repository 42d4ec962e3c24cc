/** What a run of the demo leaves connected, so that the next one ends it first: the account then shows one demo assistant, not one more each time. */
import type { MemoryProvider } from "./client.ts";

const fileIn = (folder: string) => `${folder}/demo.json`;

/** Disconnects what the last run on this folder left, if there was one. */
export async function endEarlierRun(siteUrl: string, folder: string): Promise<void> {
  const text = await Deno.readTextFile(fileIn(folder)).catch(() => undefined);
  if (!text) return;
  const response = await fetch(`${siteUrl}/api/oauth/revoke`, {
    method: "POST",
    body: new URLSearchParams(JSON.parse(text)),
  });
  await response.body?.cancel();
}

/** Keeps what ends this run's connection, where only the folder's owner can read it. */
export async function keepForNextRun(provider: MemoryProvider, folder: string): Promise<void> {
  const { client_id } = provider.clientInformation()!;
  const { refresh_token: token } = provider.tokens()!;
  await Deno.writeTextFile(fileIn(folder), JSON.stringify({ client_id, token }), { mode: 0o600 });
}
