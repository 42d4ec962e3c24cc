/** The payment provider: sends customers' first charges until they are accepted, and sometimes once more. */
import { createHmac } from "node:crypto";
import { paymentEvent } from "../../../local/payment_event.ts";
import type { Traffic } from "../model/traffic.ts";
import type { World } from "../world/world.ts";

const padded = (number: number) => String(number).padStart(8, "0");

export class PaymentProvider {
  /** Customers whose event was acknowledged. */
  readonly paid = new Set<number>();
  /** Bodies that are not acknowledged yet, which the provider sends again. */
  #waiting: { customer: number; body: string }[] = [];
  #next = 0;

  constructor(private readonly traffic: Traffic, private readonly world: World, readonly customers: number) {}

  async deliver(): Promise<void> {
    const again = this.#waiting.shift();
    if (again) return await this.#send(again);
    if (this.#next >= this.customers) return;
    const customer = this.#next++;
    const event = await paymentEvent("subscription.charged", {
      organizationId: `org_cust${padded(customer)}`,
      subscriptionId: `sub_${padded(customer).padStart(14, "0")}`,
      at: new Date(),
    });
    const delivery = { customer, body: JSON.stringify(event) };
    await this.#send(delivery);
    // At least once means that some arrive twice.
    if (customer % 5 === 0) await this.#send(delivery);
  }

  /** Runs until no event waits, because the provider retries for a day. */
  async finish(): Promise<void> {
    for (let tries = 0; this.#waiting.length > 0 && tries < 500; tries++) await this.deliver();
  }

  async #send(delivery: { customer: number; body: string }): Promise<void> {
    const { body, customer } = delivery;
    const secret = this.world.secrets.webhook.at(-1)!;
    const reply = await this.traffic.send({
      kind: "webhook",
      slug: "payment-webhook",
      path: "/api/payment/webhook",
      headers: {
        "content-type": "application/json",
        // The provider signs with its latest secret, which it gets some time after us.
        "x-payment-signature": createHmac("sha256", secret).update(body).digest("hex"),
      },
      body,
    });
    if (reply?.status === 200) this.paid.add(customer);
    else {
      this.#waiting.push(delivery);
      if (reply) this.traffic.problem(`an event was answered ${reply.status} ${reply.text.slice(0, 200)}`);
    }
  }
}
