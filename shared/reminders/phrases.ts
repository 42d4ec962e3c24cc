/** Sentences that every digest ends with. */
import { billsOf, type DigestBill, type DigestContent, type Reconnect } from "./content.ts";
import { inSentence } from "./words.ts";

/** What the assistant can do about it: nothing has to be marked that pays itself, and what comes every day is not put off by days. */
export function advice(content: DigestContent): string {
  const nameOf = ({ name }: DigestBill) => inSentence(name, 40);
  const payable = billsOf(content).filter(({ autopay }) => !autopay);
  if (payable.length === 0) return "Ask your assistant: “what is due this week?”";
  const first = payable[0]!;
  const later = payable.filter(({ is_daily }) => !is_daily);
  const second = later.find((bill) => bill !== first) ?? later[0];
  const marked = `“mark ${nameOf(first)} paid”`;
  return `Tell your assistant: ${marked}${
    second ? ` or “snooze ${nameOf(second)} until ${soon(content.today)}”` : ""
  }.`;
}

/** A weekday that comes, whichever today is. */
function soon(today: string): string {
  const FRIDAY = 5;
  return new Date(`${today}T00:00:00Z`).getUTCDay() < FRIDAY ? "Friday" : "Monday";
}

/** Why the mail came. */
export function reason({ organizations }: DigestContent): string {
  const names = organizations.map(({ name }) => inSentence(name, 120));
  const what = names.length === 1 ? names[0] : `${names.length} organizations`;
  return `You get this mail because you own ${what} and reminders are on: at most one mail a day.`;
}

/** What has to be connected again: "Cloud hosting: DigitalOcean no longer accepts our key, so its amount cannot be fetched." */
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
      }${where}: ${provider} no longer accepts our key, so its amount cannot be fetched.`,
    };
  });
}
