/** Words of the operator's test mail. */

export const testMail = {
  subject: "Expenses can send email",
  text: ({ site, at, mark }: { site: string; at: string; mark: string }): string =>
    [
      `${site} sent this email to check that its mail settings work. They do.`,
      `Sent at ${at}. The selfcheck that asked for it printed the same mark: ${mark}`,
    ].join("\n\n") + "\n",
};
