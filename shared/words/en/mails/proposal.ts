/** Words of the mails that ask for approval, and that tell who asked what was decided. */

interface About {
  /** The address of who asks. */
  proposer: string;
  /** The app in quotation marks; undefined when there is none or it has no legible name. */
  app: string | undefined;
  /** "delete 12 expenses" */
  act: string;
  /** In quotation marks; undefined when it has no legible name. */
  organization: string | undefined;
}

interface Listed {
  /** What changes, a line each. */
  effects: readonly string[];
  link: string;
}

const IN = "an organization of yours";

const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");

const asker = ({ proposer, app }: Pick<About, "proposer" | "app">): string =>
  app ? `${proposer}’s app ${app}` : proposer;

export const proposal = {
  /** Instead of any amount, for who wants none in mails. */
  hidden: "(amount not shown)",
  asked: {
    subject: (about: About): string => `${asker(about)} wants to ${about.act}`,
    text: (
      { effects, link, reasons, expires, ...about }: About & Listed & { reasons: readonly string[]; expires: string },
    ): string =>
      [
        `${asker(about)} wants to ${about.act} in ${about.organization ?? IN}. Nothing has been changed so far.`,
        ...(effects.length > 0 ? [`What will change:\n${list(effects)}`] : []),
        `Why it needs approval:\n${list(reasons)}`,
        `To approve or refuse it, sign in and press a button here, by ${expires}:\n${link}`,
        `You’re getting this email because you can approve changes in ${about.organization ?? IN}. Its owner ` +
        "decides what needs approval. If you do nothing, nothing changes.",
      ].join("\n\n") + "\n",
  },
  decided: {
    subjects: {
      approved: ({ act }: About): string => `Approved: ${act}`,
      refused: ({ act }: About): string => `Refused: ${act}`,
      stale: ({ act }: About): string => `Not done: ${act}`,
      expired: ({ act }: About): string => `Expired: ${act}`,
    },
    said: {
      approved: ({ by }: { by: string }): string => `${by} approved it. It’s done.`,
      refused: ({ by }: { by: string }): string => `${by} refused it. Nothing was changed.`,
      stale: ({ by }: { by: string }): string =>
        `${by} approved it, but it no longer fits the books, so it wasn’t done and nothing was changed.`,
      expired: () => "Nobody decided in time. Nothing was changed. Ask again if it’s still wanted.",
    },
    somebody: "A former member",
    text: ({ effects, link, said, ...about }: About & Listed & { said: string }): string =>
      [
        `${about.app ? `Your app ${about.app}` : "You"} wanted to ${about.act} in ${about.organization ?? IN}.`,
        said,
        ...(effects.length > 0 ? [`What it was about:\n${list(effects)}`] : []),
        `See it here:\n${link}`,
        "You’re getting this email because you asked for the change.",
      ].join("\n\n") + "\n",
  },
};
