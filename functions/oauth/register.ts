/**
 * Dynamic client registration (RFC 7591 §3). Supports only public clients, without secrets and without management of
 * registrations.
 */
import { Buffer } from "node:buffer";
import { callerQuotas, clientRoom } from "../../shared/http/quotas.ts";
import { note } from "../../shared/http/app.ts";
import { readText } from "../../shared/http/read_body.ts";
import { clientId } from "../../shared/oauth/client_id.ts";
import { MAX_BODY_BYTES } from "../../shared/oauth/limits.ts";
import { judgeRegistration } from "../../shared/oauth/registration.ts";
import { parseJson } from "../../shared/parse_json.ts";
import { NO_STORE, refuse } from "./errors.ts";
import type { Endpoint } from "./server.ts";

export const register: Endpoint = async (c, server) => {
  const body = parseJson(await readText(c, MAX_BODY_BYTES));
  const judged = judgeRegistration(body);
  if (!judged.ok) return refuse(c, server, judged.reason);

  const { metadata } = judged;
  const id = clientId(Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString("base64url"));
  const at = server.clock();
  await server.store.registerClient({
    clientId: id,
    clientName: metadata.client_name,
    redirectUris: metadata.redirect_uris,
    quotas: await callerQuotas(server.config, "register", c),
    room: await clientRoom(server.config, c),
    at,
  });
  note(c, { client_id: id });
  const client = { client_id: id, client_id_issued_at: Math.floor(at.getTime() / 1000), ...metadata };
  return c.json(client, 201, NO_STORE);
};
