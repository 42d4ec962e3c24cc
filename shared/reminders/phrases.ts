/** Sentences that every digest ends with. */
import { billsOf, type DigestContent } from "./content.ts";
import { oneLine } from "./words.ts";

/** What the assistant can do about it. */
export function advice(content: DigestContent): string {
  const [first, second = first] = billsOf(content).map(({ name }) => oneLine(name, 40));
  return `Tell your assistant: “mark ${first} paid” or “snooze ${second} until Friday”.`;
}

/** Why the mail came. */
export function reason({ organizations }: DigestContent): string {
  const names = organizations.map(({ name }) => oneLine(name));
  const what = names.length === 1 ? names[0] : `${names.length} organizations`;
  return `You get this mail because you own ${what} and reminders are on: at most one mail a day.`;
}
