/**
 * The load: clients that act one request at a time at a steady rate, apps that register, a payment provider, the
 * scheduler, and new people.
 */
import { type Chance, chanceOf } from "../e2e/year/days.ts";
import { decideProposal } from "./actors/approving.ts";
import { addBill, listBills, payBill } from "./actors/bills.ts";
import { getContext, refresh, register } from "./actors/apps.ts";
import { PaymentProvider } from "./actors/payments.ts";
import { Scheduler } from "./actors/scheduler.ts";
import {
  askForRates,
  deleteExpense,
  listExpenses,
  logExpenses,
  summarize,
  undoChange,
  updateExpense,
} from "./actors/spending.ts";
import { Visitors } from "./actors/visitor.ts";
import { checkBooks } from "./checks/books.ts";
import { searchCanaries } from "./checks/canaries.ts";
import { checkInvariants } from "./checks/invariants.ts";
import { checkMails, checkPayments, checkProposals, checkStatements, checkVisitors } from "./checks/outcomes.ts";
import { Client } from "./model/client.ts";
import { Proposals } from "./model/proposals.ts";
import { Traffic } from "./model/traffic.ts";
import { addCustomers, addPeople, addProviderLinks, connectApp, people } from "./world/seed.ts";
import type { World } from "./world/world.ts";

type Act = (client: Client) => Promise<void>;

export interface LoadOptions {
  organizations?: number;
  each?: number;
  seed?: number;
  /** The total duration, measurements included. */
  seconds?: number;
}

/** The payment provider has about two first events a second, and this many more than it sends. */
const CUSTOMERS_PER_SECOND = 3;
/** The concurrency while the load measures the machine's capacity. */
const LANES = 16;
/**
 * The concurrency without an active fault: the limit of an instance, because a shared machine may lose half its speed
 * at any moment. `overload.ts` tests higher loads.
 */
const MOST_UNDER_WAY = 24;
/** The warm-up before measurements count: code is compiled and tables get rows for planning. */
const WARM_UP_MS = 5_000;
/** A lost session returns within twenty seconds. */
const QUIET_MS = 60_000;
/** The fraction of its capacity. */
const SHARE = 0.7;

export class Load {
  readonly proposals = new Proposals();
  readonly traffic: Traffic;
  readonly payments: PaymentProvider;
  readonly scheduler: Scheduler;
  readonly visitors: Visitors;
  readonly clients: Client[] = [];
  /** Client actions per second, determined by `measure`. */
  rate = 0;
  /** Skipped actions, because too many were running. */
  heldBack = 0;
  readonly #chance: Chance;
  readonly #acts: Act[];
  readonly #underWay = new Set<Promise<void>>();

  private constructor(readonly world: World, { seed, customers }: { seed: number; customers: number }) {
    this.#chance = chanceOf(seed);
    this.traffic = new Traffic(world.functions);
    this.payments = new PaymentProvider(this.traffic, world, customers);
    this.scheduler = new Scheduler(this.traffic, world);
    this.visitors = new Visitors(this.traffic, world);
    const mix: [number, Act][] = [
      [28, logExpenses],
      [24, listExpenses],
      [8, summarize],
      [7, updateExpense],
      [4, deleteExpense],
      [4, undoChange],
      [3, addBill(this.proposals)],
      [4, payBill],
      [5, listBills],
      [4, decideProposal(this.proposals)],
      [6, getContext],
      [3, refresh],
    ];
    this.#acts = mix.flatMap(([times, act]) => Array.from({ length: times }, () => act));
  }

  /** Waits until everybody has a token. */
  static async open(
    world: World,
    { organizations = 40, each = 5, seed = Date.now() % 2 ** 31, seconds = 300 }: LoadOptions = {},
  ): Promise<Load> {
    const customers = Math.ceil(seconds * CUSTOMERS_PER_SECOND);
    const load = new Load(world, { seed, customers });
    const everyone = people({ organizations, each });
    await addPeople(world.admin, everyone);
    await addCustomers(world.admin, customers);
    await addProviderLinks(world, Math.min(10, organizations));
    for (const person of everyone) {
      const tokens = await connectApp(world, person);
      load.traffic.issued.push(tokens.access_token, tokens.refresh_token);
      load.clients.push(new Client(person, load.traffic, load.#chance, tokens));
    }
    await world.admin.exec("analyze");
    // Without rates, amounts in other currencies have no value yet.
    await askForRates(load.clients[0]!);
    await load.scheduler.run("reminders");
    return load;
  }

  /** Measures the machine's capacity beside its other work, and uses a fraction of it as the rate. */
  async measure(seconds: number): Promise<void> {
    this.traffic.exceed();
    const from = performance.now() + WARM_UP_MS;
    const isOver = () => performance.now() >= from + seconds * 1000;
    let done = 0;
    const lanes = Array.from({ length: LANES }, async () => {
      while (!isOver()) {
        await this.#actOnce();
        if (performance.now() >= from && !isOver()) done++;
      }
    });
    const warm = new Promise((resolve) => setTimeout(resolve, WARM_UP_MS)).then(() => this.world.admin.exec("analyze"));
    await Promise.all([...lanes, ...this.#besides(isOver), warm]);
    this.traffic.keep();
    this.rate = done / seconds * SHARE;
  }

  /** Sustains the rate for this long, and until an action is done, regardless of failed requests. */
  async run(seconds: number, besides?: Promise<void>): Promise<void> {
    const startedAt = performance.now();
    const elapsed = () => (performance.now() - startedAt) / 1000;
    let isDone = besides === undefined;
    const noted = besides?.finally(() => isDone = true);
    const isOver = () => isDone && elapsed() >= seconds;
    const others = this.#besides(isOver);
    let due = 0;
    for (let at = elapsed(); !isOver();) {
      due += (elapsed() - at) * this.rate;
      at = elapsed();
      if (due >= 1) {
        due--;
        if (this.#underWay.size >= MOST_UNDER_WAY && !this.traffic.isBroken) {
          this.heldBack++;
          continue;
        }
        const act = this.#actOnce().finally(() => this.#underWay.delete(act));
        this.#underWay.add(act);
      } else await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await Promise.all([...others, ...this.#underWay, noted]);
  }

  /** Compares everything while nobody writes. @param complete whether to include writes that may still be running */
  async check({ complete = false } = {}): Promise<string[]> {
    const { admin, outside } = this.world;
    await this.#untilQuiet();
    return [
      ...await checkProposals(admin, this.proposals),
      ...await checkBooks(admin, this.clients),
      ...await checkInvariants(admin),
      ...checkMails(outside, this.scheduler, { complete }),
      ...await checkPayments(admin, this.payments),
      ...await checkVisitors(admin, this.visitors),
      ...complete ? await checkStatements(this.world) : [],
      ...complete ? await searchCanaries(this.world, this.traffic.issued) : [],
    ];
  }

  /** Work that is retried until it is done: events, and reminders of dead runs. */
  async finish(): Promise<void> {
    await this.payments.finish();
    await this.scheduler.finish(() => checkMails(this.world.outside, this.scheduler, { complete: true }).length === 0);
  }

  /** After a fault, a write may still arrive from a cut or restored session, although no client waits for it. */
  async #untilQuiet(): Promise<void> {
    const { admin, standIn } = this.world;
    const isQuiet = async () => {
      const waiting = standIn ? await (await fetch(`http://127.0.0.1:${standIn.port}/under-way`)).json() : 0;
      const active = await admin.query(
        "select from pg_stat_activity where usename in ('authenticator', 'expenses') and state <> 'idle'",
      );
      return waiting === 0 && active.length === 0;
    };
    const until = performance.now() + QUIET_MS;
    while (!await isQuiet()) {
      if (performance.now() > until) return this.traffic.problem("calls of the database did not end");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async #actOnce(): Promise<void> {
    const idle = this.clients.filter(({ isBusy }) => !isBusy);
    if (idle.length === 0) return await new Promise((resolve) => setTimeout(resolve, 5));
    const client = this.#chance.pick(idle);
    client.isBusy = true;
    try {
      await this.#chance.pick(this.#acts)(client);
    } catch (thrown) {
      client.problem(`an answer could not be read: ${thrown instanceof Error ? thrown.stack : thrown}`);
    } finally {
      client.isBusy = false;
    }
  }

  /** Repeats all traffic except the clients' until the run is over. */
  #besides(isOver: () => boolean): Promise<void>[] {
    return [
      this.#every(0.5, () => this.payments.deliver(), isOver),
      this.#every(0.7, () => register(this.traffic), isOver),
      this.#every(4, () => this.visitors.visit(), isOver),
      this.#every(6, async () => {
        await this.scheduler.addReminders().catch(() => {});
        await this.scheduler.run("reminders");
      }, isOver),
      this.#every(9, () => this.scheduler.run("provider-sync"), isOver),
    ];
  }

  /** Runs in sequence, this many times. */
  async #every(pauseSeconds: number, act: () => Promise<void>, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await act();
      const until = performance.now() + pauseSeconds * 1000;
      while (!isOver() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
