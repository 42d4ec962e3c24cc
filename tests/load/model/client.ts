/** A person's AI client: its tokens, its own books, and tool calls whose answers it checks. */
import type { Chance } from "../../e2e/year/days.ts";
import { CLIENT_ID, markOf, type Person, type Tokens } from "../world/seed.ts";
import { Books } from "./books.ts";
import type { Traffic } from "./traffic.ts";

// deno-lint-ignore no-explicit-any -- answers are inspected field by field
export type Json = any;

/** An envelope; undefined after a lost response. */
export type Told = Json | undefined;

/** A bill, and its known payments. */
export interface Bill {
  id: string;
  name: string;
  minor: number;
  /** The next due date. */
  next: string;
  /** Paid due dates, from the answers. */
  paid: string[];
  /** A payment whose response was lost, so one more may exist. */
  isUnsure: boolean;
}

/** A payment may be at most half a year from its date, so nobody pays further ahead. */
const PAID_AHEAD = 100;
export const isPayable = ({ paid, isUnsure }: Bill): boolean => !isUnsure && paid.length < PAID_AHEAD;

/** Access tokens are valid for an hour. */
const REFRESH_AFTER_MS = 45 * 60_000;

export class Client {
  readonly books = new Books();
  readonly bills: Bill[] = [];
  /** Names of bills that may exist, because the response was lost or a proposal is pending. */
  readonly possibleBills = new Set<string>();
  /** The latest changes, for undo, with the names that each wrote. */
  readonly changes: { id: string; names: string[] }[] = [];
  /** One action at a time, like an assistant. */
  isBusy = false;
  #names = 0;
  #issuedAt = performance.now();

  constructor(
    readonly person: Person,
    readonly traffic: Traffic,
    readonly chance: Chance,
    public tokens: Tokens,
  ) {}

  get label(): string {
    return `${markOf(this.person.organization)}${String(this.person.place).padStart(2, "0")}`;
  }
  /** A payee for this client's expenses, by which it finds them. */
  get payee(): string {
    return `${this.label}shop`;
  }
  /** A payee for its bills. A payment would take over an expense of the same amount whose payee is a letter apart. */
  get landlord(): string {
    return `${this.label}landlord`;
  }
  newName = (what: string): string => `${this.label} ${what} ${++this.#names}`;

  problem = (told: string): void => this.traffic.problem(`${this.label}: ${told}`);

  /** @returns the envelope, also of an error; undefined when the outcome is unknown */
  async call(tool: string, args: Record<string, unknown> = {}): Promise<Told> {
    if (performance.now() - this.#issuedAt > REFRESH_AFTER_MS) await this.refresh();
    const sentAt = performance.now();
    const reply = await this.traffic.send({
      kind: tool,
      slug: "mcp",
      path: "/api/mcp",
      organization: this.person.organization,
      headers: {
        "content-type": "application/json",
        // Handles both kinds of answers.
        accept: this.person.place % 2 ? "application/json, text/event-stream" : "application/json",
        "mcp-protocol-version": "2025-11-25",
        authorization: `Bearer ${this.tokens.access_token}`,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } }),
    });
    if (!reply) return undefined;
    if (reply.status !== 200) {
      this.problem(`${tool} was answered ${reply.status}: ${reply.text.slice(0, 300)}`);
      return undefined;
    }
    const isStream = reply.headers.get("content-type")?.startsWith("text/event-stream");
    const { result, error } = JSON.parse(isStream ? /^data: (.+)$/m.exec(reply.text)![1]! : reply.text);
    if (!result) {
      this.problem(`${tool} was refused: ${JSON.stringify(error)}`);
      return undefined;
    }
    const envelope = result.structuredContent;
    // An internal failure reveals as little about a write as a missing response.
    return envelope.error?.code === "internal" && this.traffic.isExcused(sentAt) ? undefined : envelope;
  }

  /** Like `call`, for calls that must succeed unless the books are busy. */
  async ok(tool: string, args: Record<string, unknown> = {}): Promise<Told> {
    const envelope = await this.call(tool, args);
    if (envelope && !envelope.ok && envelope.error.code !== "busy") {
      this.problem(
        `${tool} ${JSON.stringify(args).slice(0, 300)} failed: ${JSON.stringify(envelope.error).slice(0, 300)}`,
      );
    }
    return envelope;
  }

  /** Exchanges the refresh token; repeats the call after a lost response. @returns whether it has new tokens */
  async refresh(): Promise<boolean> {
    for (let tries = 0; tries < 40; tries++) {
      const reply = await this.traffic.send({
        kind: "refresh",
        slug: "oauth",
        path: "/api/oauth/token",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({
          grant_type: "refresh_token",
          refresh_token: this.tokens.refresh_token,
          client_id: CLIENT_ID,
        }).toString(),
      });
      if (reply?.status === 200) {
        const tokens = JSON.parse(reply.text);
        if (tokens.refresh_token === this.tokens.refresh_token) this.problem("a refresh token was not rotated");
        this.tokens = tokens;
        this.#issuedAt = performance.now();
        this.traffic.issued.push(tokens.access_token, tokens.refresh_token);
        return true;
      }
      if (reply) {
        this.problem(`a refresh was refused after ${tries} lost answers: ${reply.text.slice(0, 200)}`);
        return false;
      }
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    return false;
  }
}
