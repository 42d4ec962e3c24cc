/** Events as the payment provider sends them: its documented samples, adapted to one of our subscriptions. */

const SAMPLES = new URL("../tests/fixtures/payment/", import.meta.url);

export interface AboutEvent {
  /** The organization for the notes; if absent, the notes remain as in the sample, possibly empty. */
  organizationId?: string;
  subscriptionId?: string;
  planId?: string;
  /** The time of the event, in whole seconds. The sample's paid period shifts accordingly. */
  at?: Date;
  /** Other members of the subscription. */
  subscription?: Record<string, unknown>;
}

export interface EventEnvelope {
  event: string;
  created_at?: number;
  payload: { created_at?: number; subscription: { entity: Record<string, unknown> } };
}

/** Kinds of events with a sample, e.g. `subscription.charged`. */
export async function eventTypes(): Promise<string[]> {
  const files = await Array.fromAsync(Deno.readDir(SAMPLES), ({ name }) => name);
  return files.map((name) => name.replace(/\.json$/, "")).toSorted();
}

/** @param type one of `eventTypes`. */
export async function paymentEvent(type: string, about: AboutEvent = {}): Promise<EventEnvelope> {
  const event: EventEnvelope = JSON.parse(await Deno.readTextFile(new URL(`${type}.json`, SAMPLES)));
  const entity = event.payload.subscription.entity;
  if (about.organizationId) entity.notes = { organization_id: about.organizationId };
  if (about.subscriptionId) entity.id = about.subscriptionId;
  if (about.planId) entity.plan_id = about.planId;
  if (about.at) {
    const holder = event.created_at === undefined ? event.payload : event;
    const later = Math.floor(about.at.getTime() / 1000) - holder.created_at!;
    holder.created_at! += later;
    for (const name of ["current_start", "current_end"]) {
      if (typeof entity[name] === "number") entity[name] += later;
    }
  }
  Object.assign(entity, about.subscription);
  return event;
}
