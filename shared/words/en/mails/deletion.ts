/** Words of the mails that inform an organization's owner and members of its deletion, or that it stays. */

export const deletion = {
  going: (
    { organization, owner, on, url }: { organization: string; owner: string; on: string; url: string },
  ): { subject: string; text: string } => ({
    subject: `${organization} will be deleted on ${on}`,
    text: [
      `${owner} is deleting ${organization}. On ${on}, all its expenses, bills and statements will be gone for everyone.`,
      "Until then, you can still read everything, but nothing can be added or changed, and no reminders are sent.",
      `If that’s a mistake, tell ${owner}, who can stop it here before then:\n${url}`,
    ].join("\n\n") + "\n",
  }),
  goingAsAsked: (
    { organization, on, url }: { organization: string; on: string; url: string },
  ): { subject: string; text: string } => ({
    subject: `${organization} will be deleted on ${on}`,
    text: [
      `You asked us to delete ${organization}. On ${on}, all its expenses, bills and statements will be gone for everyone.`,
      "Until then, you can still read everything, but nothing can be added or changed, and no reminders are sent.",
      `Changed your mind, or wasn’t that you? Sign in here to stop it before then:\n${url}`,
    ].join("\n\n") + "\n",
  }),
  stays: ({ organization }: { organization: string }): { subject: string; text: string } => ({
    subject: `${organization} will not be deleted`,
    text: `The deletion of ${organization} was stopped. Everything works as before, including reminders.\n`,
  }),
};
