/**
 * Fetches a mail from Resend: first its address, then the mail.
 * @see https://resend.com/docs/api-reference/emails/retrieve-received-email
 */
import * as z from "zod/mini";
import type { GuardedFetch } from "../net/guarded_fetch.ts";
import { parseJson } from "../parse_json.ts";

const DEADLINE_MS = 20_000;
/** The API answers with the mail's texts, too. */
const MAX_ANSWER = 25 * 1024 * 1024;
const MAX_MAIL = 10 * 1024 * 1024;

const ReceivedMail = z.object({ raw: z.object({ download_url: z.string() }) });

interface FetchDeps {
  fetch: typeof fetch;
  guardedFetch: GuardedFetch;
}

interface Wanted {
  /** The id from `ArrivedMail`. */
  providerId: string;
  apiKey: string;
}

/** @throws when the service does not hand over the mail; it may later. */
export async function fetchMail(
  { fetch, guardedFetch }: FetchDeps,
  { providerId, apiKey }: Wanted,
): Promise<Uint8Array> {
  const id = providerId.replace(/^resend:/, "");
  const response = await fetch(`https://api.resend.com/emails/receiving/${id}?html_format=cid`, {
    headers: { authorization: `Bearer ${apiKey}` },
    redirect: "error",
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  if (!response.ok || Number(response.headers.get("content-length") ?? 0) > MAX_ANSWER) {
    await response.body?.cancel();
    throw new Error(`the mail service answered ${response.status} about a mail`);
  }
  const { raw } = ReceivedMail.parse(parseJson(await response.text()));
  // The mail's address is signed and may be on any host, so the request carries no API key.
  const answer = await guardedFetch({ url: raw.download_url, maxBytes: MAX_MAIL, deadlineMs: DEADLINE_MS });
  if (!answer.ok || answer.status !== 200) {
    throw new Error(`a mail was not handed over: ${answer.ok ? answer.status : answer.reason}`);
  }
  return answer.body;
}
