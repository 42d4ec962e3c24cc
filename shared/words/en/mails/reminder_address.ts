/** Words of the mail that asks for the confirmation of a reminder address. */

export const reminderAddress = {
  subject: "Confirm this address for bill reminders from Expenses",
  text: ({ email, link, days }: { email: string; link: string; days: number }): string =>
    [
      `${email} asked us to send bill reminders to this address.`,
      `Confirm this address:\n${link}`,
      `The link works for ${days} days. Don’t know ${email}? Ignore this email, and no reminders will come.`,
    ].join("\n\n") + "\n",
};
