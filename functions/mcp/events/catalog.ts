/** The events of the extension io.modelcontextprotocol/events (SEP-3415). */
import type { Words } from "../../../shared/words/words.ts";

type EventName = keyof Words["events"];

/** No event takes arguments, because a grant already determines the organization. */
const NO_ARGUMENTS = { type: "object", properties: {}, additionalProperties: false };
const PAYLOAD = {
  type: "object",
  properties: {
    organization_id: { type: "string" },
    ids: { type: "array", items: { type: "string" }, maxItems: 100 },
    count: { type: "integer", minimum: 1 },
  },
  required: ["organization_id", "ids", "count"],
};

export const isEventName = (words: Words, name: string): name is EventName => Object.hasOwn(words.events, name);

export const listEvents = (words: Words) =>
  Object.entries(words.events).map(([name, { title, description }]) => ({
    name,
    title,
    description,
    delivery: ["poll", "webhook"],
    inputSchema: NO_ARGUMENTS,
    payloadSchema: PAYLOAD,
  }));
