/**
 * Receives mail from the mail service of `INBOUND_URL` and stores it for a job that reads it. It authenticates the
 * caller before it reads the body. Every recipient gets the same response, so callers cannot find out which addresses
 * exist. It acknowledges even the mail that it drops, because the service would otherwise retry for hours.
 */
import { createInboundStore } from "../../shared/db/inbound_store.ts";
import type { Deps } from "../../shared/deps.ts";
import { AppError, toAppError } from "../../shared/errors.ts";
import { admission } from "../../shared/http/admission.ts";
import { type App, createApp, note } from "../../shared/http/app.ts";
import { readBody } from "../../shared/http/read_body.ts";
import { tokensOf } from "../../shared/inbound/address.ts";
import { describeMail } from "../../shared/inbound/describe_mail.ts";
import type { InboundSettings } from "../../shared/inbound/inbound_url.ts";
import type { ArrivedMail } from "../../shared/inbound/service.ts";
import { MAIL_SERVICES } from "../../shared/inbound/services.ts";

const PATH = "/api/mail/inbound";
/** The same limit as for documents. */
const LARGEST_MAIL = 10 * 1024 * 1024;

export function createInboundMailApp({ config, database, clock, log }: Deps): App {
  const app = createApp("inbound-mail", { config, log });
  app.use(admission(config, { isReadLater: () => true }));
  const store = createInboundStore(database);

  async function keep({ providerId, recipients, raw }: ArrivedMail, settings: InboundSettings): Promise<string> {
    const tokens = tokensOf(recipients, settings.domain);
    if (tokens.length === 0) return "no_recipient";
    if (raw && raw.length > LARGEST_MAIL) return "too_large";
    const mail = raw && await describeMail(raw, settings);
    if (raw && !mail) return "no_sender";
    const { kept, postponed } = await store.keep({ tokens, providerId, ...mail && { mail, raw }, at: clock() });
    if (postponed > 0) {
      throw new AppError("unavailable", "Much mail waits. Deliver it again later.", { cause: new Error("mail_full") });
    }
    return kept > 0 ? "kept" : "not_kept";
  }

  app.post(PATH, async (c) => {
    const settings = config.inbound;
    if (!settings) {
      throw new AppError("unavailable", "Mail is not received here.", { cause: new Error("INBOUND_URL is not set") });
    }
    const service = MAIL_SERVICES[settings.kind];
    const unknown = () => new AppError("unauthorized", "The sender of this request is not the mail service.");
    if (!service.isKnown(c.req.raw.headers, settings)) throw unknown();
    const acknowledge = (outcome: string) => {
      note(c, { outcome });
      return c.json({ status: "ok" }, 200, { "cache-control": "no-store" });
    };
    let body: Uint8Array;
    try {
      body = new Uint8Array(await readBody(c, service.maxBytes));
    } catch (thrown) {
      if (toAppError(thrown).code !== "payload_too_large") throw thrown;
      return acknowledge("too_large");
    }
    const arrived = await service.read({ headers: c.req.raw.headers, body, at: clock() }, settings);
    if (arrived === "unknown") throw unknown();
    if (!arrived) throw new AppError("invalid_request", "The body holds no mail.");
    return acknowledge(await keep(arrived, settings));
  });
  return app;
}
