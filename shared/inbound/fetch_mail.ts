/**
 * Fetches a mail from Resend: first its URL, then the mail.
 * @see https://resend.com/docs/api-reference/emails/retrieve-received-email
 */
import * as z from "zod/mini";
import type { GuardedFetch, GuardedRequest } from "../net/guarded_fetch.ts";
import { parseJson } from "../parse_json.ts";

const DEADLINE_MS = 20_000;
/** The API's response also contains the mail's texts, but not its attachments. */
const MAX_ANSWER = 12 * 1024 * 1024;
const MAX_MAIL = 10 * 1024 * 1024;

const ReceivedMail = z.object({ raw: z.object({ download_url: z.string() }) });

interface Wanted {
  /** The id from `ArrivedMail`. */
  providerId: string;
  apiKey: string;
}

/**
 * @returns undefined for a mail that is too large.
 * @throws when the service does not return the mail; a retry may succeed.
 */
export async function fetchMail(
  guardedFetch: GuardedFetch,
  { providerId, apiKey }: Wanted,
): Promise<Uint8Array | undefined> {
  const read = async (request: Omit<GuardedRequest, "deadlineMs">) => {
    const answer = await guardedFetch({ ...request, deadlineMs: DEADLINE_MS });
    if (answer.ok && answer.status === 200) return answer.body;
    if (!answer.ok && answer.reason === "too_large") return undefined;
    throw new Error(`a mail was not handed over: ${answer.ok ? answer.status : answer.reason}`);
  };
  const id = providerId.replace(/^resend:/, "");
  const described = await read({
    url: `https://api.resend.com/emails/receiving/${id}?html_format=cid`,
    headers: { authorization: `Bearer ${apiKey}` },
    maxBytes: MAX_ANSWER,
  });
  if (!described) return undefined;
  const { raw } = ReceivedMail.parse(parseJson(new TextDecoder().decode(described)));
  // The mail's URL is signed and may be on any host, so the request contains no API key.
  return await read({ url: raw.download_url, maxBytes: MAX_MAIL });
}
