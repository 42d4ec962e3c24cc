/** Sentences that every digest ends with. */
import { billsOf, type DigestContent, type Reconnect } from "./content.ts";
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

/** What has to be connected again: "Cloud hosting: DigitalOcean no longer accepts the credential, so its amount cannot be fetched." */
export function reconnectSentences(
  { organizations, reconnect }: DigestContent,
): { link: Reconnect; sentence: string }[] {
  const isAlone = (id: string) => organizations.length === 1 && organizations[0]!.id === id;
  return reconnect.map((link) => {
    const where = isAlone(link.organization_id) ? "" : ` of ${inSentence(link.organization, 120)}`;
    const provider = inSentence(link.provider, 60);
    return {
      link,
      sentence: `${
        inSentence(link.name, 120)
      }${where}: ${provider} no longer accepts the credential, so its amount cannot be fetched.`,
    };
  });
}
