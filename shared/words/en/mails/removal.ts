/** Words of the mail to a person who was removed from an organization. */
import { count } from "../phrases.ts";

interface Removed {
  /** In quotation marks; undefined if the name is illegible. */
  organization: string | undefined;
  /** The address of the person who removed them; null once their account is gone. */
  by: string | null;
}

const SOMEBODY = "a former member";

export const removal = {
  subject: ({ organization }: Removed): string => `You were removed from ${organization ?? "an organization"}`,
  /** An open balance between them and a member, in a list. */
  balance: ({ owes, who, amount }: { owes: boolean; who: string | null; amount: string }): string =>
    owes ? `You owe ${who ?? SOMEBODY} ${amount}` : `${who ?? "A former member"} owes you ${amount}`,
  text: (
    { organization, by, link, balances, withdrawn }: Removed & {
      link: string;
      balances: readonly string[];
      withdrawn: number;
    },
  ): string =>
    [
      `${by ?? "Its owner or a manager"} removed you from ${organization ?? "an organization"} in Expenses. ` +
      "You and your apps can no longer see or change anything there, and you won’t get reminders about it.",
      "Expenses and bills that you recorded stay there.",
      ...(withdrawn > 0
        ? [
          `${count(withdrawn, "change")} of yours that ${
            withdrawn === 1 ? "was" : "were"
          } waiting for approval will not be made.`,
        ]
        : []),
      ...(balances.length > 0
        ? [
          `Still open for shared costs:\n${balances.map((line) => `- ${line}`).join("\n")}`,
          "Settle this directly with them. They can record it in the books.",
        ]
        : []),
      `Your account and your other organizations stay as they are:\n${link}`,
      ...(by ? [`If this is a mistake, ask ${by} to invite you again.`] : []),
    ].join("\n\n") + "\n",
};
