/** A person with an organization on a running stack, and their AI clients. */
import { connect } from "../../local/demo/client.ts";
import { decide } from "../../local/demo/consent.ts";
import { signIn, type TestStack } from "../_support/stack.ts";

// deno-lint-ignore no-explicit-any -- results are inspected field by field
export type Json = any;

export interface Person {
  email: string;
  /** Clicks Allow or Deny on a client's request; returns the client's redirect. */
  decide(authorizationUrl: string | URL, press?: "approve" | "deny"): Promise<URL>;
}

/** A person who has signed in before. */
export function personOf(stack: TestStack, email: string): Person {
  return {
    email,
    decide: (authorizationUrl, press) => decide(stack, { authorizationUrl, person: { email }, press }),
  };
}

/** Signs a person in for the first time, which creates their organization. */
export async function newPerson(stack: TestStack, email: string): Promise<Person> {
  await signIn(stack, email);
  return personOf(stack, email);
}

/** The SDK's v1 client, connected for a person, and a call that returns the envelope. */
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

/** The browser's last step: loads the client's redirect URI, where a program waits for the code. */
export async function follow(callback: URL): Promise<void> {
  await (await fetch(callback)).body?.cancel();
}
