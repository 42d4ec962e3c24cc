/** Ends the connection of the previous demo run, so that the account shows only one demo assistant. */
import type { MemoryProvider } from "./client.ts";

const fileIn = (folder: string) => `${folder}/demo.json`;

/** Disconnects the last run's assistant, if any. */
export async function endEarlierRun(siteUrl: string, folder: string): Promise<void> {
  const text = await Deno.readTextFile(fileIn(folder)).catch(() => undefined);
  if (!text) return;
  const response = await fetch(`${siteUrl}/api/oauth/revoke`, {
    method: "POST",
    body: new URLSearchParams(JSON.parse(text)),
  });
  await response.body?.cancel();
}

/** Stores the credentials to disconnect this run, readable only by the folder's owner. */
export async function storeForNextRun(provider: MemoryProvider, folder: string): Promise<void> {
  const { client_id } = provider.clientInformation()!;
  const { refresh_token: token } = provider.tokens()!;
  await Deno.writeTextFile(fileIn(folder), JSON.stringify({ client_id, token }), { mode: 0o600 });
}
