/** A person with an organization of their own on a running stack, and what their AI clients do for them. */
import { connect } from "../../local/demo/client.ts";
import { decide } from "../../local/demo/consent.ts";
import { signIn, type TestStack } from "../_support/stack.ts";

// deno-lint-ignore no-explicit-any -- results are looked at field by field
export type Json = any;

export interface Person {
  email: string;
  /** Presses Allow, or Deny, for a client that asks; answers where the client would be sent. */
  decide(authorizationUrl: string | URL, press?: "approve" | "deny"): Promise<URL>;
}

/** Somebody who has signed in before. */
export function personOf(stack: TestStack, email: string): Person {
  return {
    email,
    decide: (authorizationUrl, press) => decide(stack, { authorizationUrl, person: { email }, press }),
  };
}

/** Signs somebody in for the first time, which makes their organization. */
export async function newPerson(stack: TestStack, email: string): Promise<Person> {
  await signIn(stack, email);
  return personOf(stack, email);
}

/** The SDK's v1 client, connected for a person, and a call that answers the envelope. */
export async function connectFor(person: Person, mcpUrl: string) {
  const { client, provider } = await connect(mcpUrl, { clientName: "Test client", decide: person.decide });
  return {
    client,
    tokens: () => provider.tokens()!,
    async call(name: string, args: Record<string, unknown> = {}): Promise<Json> {
      return (await client.callTool({ name, arguments: args })).structuredContent;
    },
  };
}

/** What the browser would do last: load the client's redirect URI, where a program waits for its answer. */
export async function follow(callback: URL): Promise<void> {
  await (await fetch(callback)).body?.cancel();
}
