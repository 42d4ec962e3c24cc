/**
 * `deno task operate webhook subscription.charged`: sends one event to the running stack, signed like the payment
 * provider's, so that a person can watch a plan change. For an event later in a subscription's life, it sends an
 * activation first, because the service ignores failures and ends of subscriptions that never were active.
 */
import { effectOf } from "../../shared/billing/effects.ts";
import { signBody } from "../../shared/billing/signature.ts";
import { DATA_OPTION, fail, print, readCommandLine, taskCommand } from "../command_line.ts";
import { eventTypes, paymentEvent } from "../payment_event.ts";
import { findStack } from "../running_stack.ts";

const types = await eventTypes();
const usage = `${taskCommand("operate webhook")} <event> [options]

  <event>                one of ${types.join(", ")}
  --org <id>             organization whose plan changes (the demo's first organization)
  --plan <pro|team|id>   one of the stack's plans, or a plan id of the payment provider (the one that the demo data has for
                         the organization, else team)
  --subscription <id>    one per organization and run of the stack unless given
  --at <instant>         when it happened (now, by the stack's clock); the provider counts whole seconds
  --event-id <id>        a new one unless given; it is kept with the event, and tells no duplicate: the body does
  --data <folder>        where the stack keeps its data (.local)`;

const { values, positionals: [, type] } = readCommandLine({
  ...DATA_OPTION,
  org: { type: "string" },
  plan: { type: "string" },
  subscription: { type: "string" },
  at: { type: "string" },
  "event-id": { type: "string", default: `evt_${crypto.randomUUID()}` },
}, usage);
if (!type || !types.includes(type)) fail(usage);

const stack = await findStack(values.data).catch((thrown) => fail(thrown.message));
const organizationId = values.org ?? stack.demo?.organization_id;
if (!organizationId) fail("This stack has no demo data: pass the organization with --org org_…");
const at = values.at ? new Date(values.at) : await clockOf(stack.local_url);
if (Number.isNaN(at.getTime())) fail(`--at ${values.at} is not a time such as 2026-12-01T08:00:00Z`);

// Keep the current plan unless the person names another one.
const plan = values.plan ?? (organizationId === stack.demo?.other_organization_id ? "pro" : "team");
const about = {
  organizationId,
  planId: stack.demo?.payment_plans[plan] ?? plan,
  subscriptionId: values.subscription ?? organizationId.replace(/^org_/, "sub_"),
};

const effect = effectOf(type);
// Always the same date, before all others: a repeated call is a duplicate and does not revive an ended subscription.
const activated = new Date(Math.min(Date.UTC(2026, 0, 1), at.getTime() - 1000));
if (effect && effect.status !== "active") await send("subscription.activated", { at: activated });
await send(type, { at, eventId: values["event-id"] });

async function send(type: string, { at, eventId }: { at: Date; eventId?: string }): Promise<void> {
  const body = new TextEncoder().encode(JSON.stringify(await paymentEvent(type, { ...about, at })));
  const headers = {
    "content-type": "application/json",
    "x-payment-signature": await signBody(body, stack.payment_webhook_secret),
    ...eventId && { "x-payment-event-id": eventId },
  };
  const response = await fetch(`${stack.supabase_url}/api/payment/webhook`, { method: "POST", headers, body });
  print(`${type} for ${organizationId} on the plan ${plan}`);
  print(`${response.status} ${(await response.text()).trim()}`);
  if (!response.ok) Deno.exit(1);
}

/** Only a stack with a local port can have a moved clock. */
async function clockOf(url: string | null): Promise<Date> {
  if (!url) return new Date();
  const { now } = await (await fetch(`${url}/clock`)).json();
  return new Date(now);
}
