/** Words of the mails about proposals: the request for approval, its repeat, and the outcome. */

interface About {
  /** The address of the person who asks. */
  proposer: string;
  /** The app in quotation marks; undefined without an app or a legible name. */
  app: string | undefined;
  /** "delete 12 expenses" */
  act: string;
  /** In quotation marks; undefined if the name is illegible. */
  organization: string | undefined;
}

interface Listed {
  /** The changes, one per line. */
  effects: readonly string[];
  link: string;
}

type Asked = About & Listed & { reasons: readonly string[]; expires: string };

const IN = "an organization of yours";

const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");

const asker = ({ proposer, app }: Pick<About, "proposer" | "app">): string =>
  app ? `${proposer}’s app ${app}` : proposer;

/** The same words for the first and the second mail. @param lead its first line */
const ask = (lead: string, { effects, link, reasons, expires, organization }: Asked): string =>
  [
    lead,
    ...(effects.length > 0 ? [`What will change:\n${list(effects)}`] : []),
    `Why it needs approval:\n${list(reasons)}`,
    `You can decide until ${expires}.`,
    `Sign in to approve or reject it:\n${link}`,
    `You’re getting this email because you can approve changes in ${organization ?? IN}. Its owner ` +
    "decides what needs approval. If you do nothing, nothing changes.",
  ].join("\n\n") + "\n";

/** @param why the reason for the mail */
const tell = (lead: string, { effects, link, said }: Listed & { said: string }, why: string): string =>
  [
    lead,
    said,
    ...(effects.length > 0 ? [`What it was about:\n${list(effects)}`] : []),
    `See the details:\n${link}`,
    why,
  ].join("\n\n") + "\n";

export const proposal = {
  /** Replaces amounts for recipients who want none in mails. */
  hidden: "(amount not shown)",
  /** For people who can decide. */
  asked: {
    subject: (about: About): string => `${asker(about)} wants to ${about.act}`,
    text: (asked: Asked): string =>
      ask(
        `${asker(asked)} wants to ${asked.act} in ${asked.organization ?? IN}. Nothing has been changed so far.`,
        asked,
      ),
  },
  /** The reminder, before the proposal expires. */
  reminded: {
    subject: (about: About): string => `Still waiting: ${asker(about)} wants to ${about.act}`,
    text: (asked: Asked): string =>
      ask(
        `${asker(asked)} wants to ${asked.act} in ${
          asked.organization ?? IN
        }. Nobody has approved or rejected it yet. ` +
          "Nothing has been changed so far.",
        asked,
      ),
  },
  subjects: {
    approved: ({ act }: About): string => `Approved: ${act}`,
    refused: ({ act }: About): string => `Rejected: ${act}`,
    stale: ({ act }: About): string => `Not done: ${act}`,
    expired: ({ act }: About): string => `Expired: ${act}`,
    withdrawn: ({ act }: About): string => `Withdrawn: ${act}`,
  },
  /** The outcome. */
  said: {
    approved: ({ by }: { by: string }): string => `${by} approved it. It’s done.`,
    refused: ({ by }: { by: string }): string => `${by} rejected it. Nothing was changed.`,
    stale: ({ by }: { by: string }): string =>
      `${by} approved it, but by then it could no longer be done. Nothing was changed.`,
    expired: () => "Nobody approved or rejected it in time. Nothing was changed.",
    withdrawn: ({ by }: { by: string }): string => `${by} withdrew it. Nothing was changed.`,
    disconnected: () => "It was withdrawn when the app that asked lost its access. Nothing was changed.",
    gone: ({ proposer }: { proposer: string | null }): string =>
      `It was withdrawn because ${proposer ?? "the person who asked"} is no longer a member. Nothing was changed.`,
  },
  somebody: "A former member",
  /** For the proposer. */
  decided: {
    askAgain: "Ask again if you still want it.",
    text: ({ said, ...about }: About & Listed & { said: string }): string =>
      tell(
        `${about.app ? `Your app ${about.app}` : "You"} wanted to ${about.act} in ${about.organization ?? IN}.`,
        { ...about, said },
        "You’re getting this email because you asked for the change.",
      ),
  },
  /** For the other people who were asked to approve. */
  settled: {
    text: ({ said, ...about }: About & Listed & { said: string }): string =>
      tell(
        `${asker(about)} wanted to ${about.act} in ${about.organization ?? IN}.`,
        { ...about, said },
        "You’re getting this email because we asked you to approve it. There is nothing left for you to do.",
      ),
  },
};
