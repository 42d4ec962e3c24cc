/** Sentences that every digest ends with. */
import { billsOf, type DigestContent } from "./content.ts";
import { inSentence } from "./words.ts";

/** What the assistant can do about it. */
export function advice(content: DigestContent): string {
  const [first, second = first] = billsOf(content).map(({ name }) => inSentence(name, 40));
  return `Tell your assistant: “mark ${first} paid” or “snooze ${second} until Friday”.`;
}

/** Why the mail came. */
export function reason({ organizations }: DigestContent): string {
  const names = organizations.map(({ name }) => inSentence(name, 120));
  const what = names.length === 1 ? names[0] : `${names.length} organizations`;
  return `You get this mail because you own ${what} and reminders are on: at most one mail a day.`;
}
