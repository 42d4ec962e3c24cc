/** Words of the identity provider's mails, under its names for them. It fills in the address. */

interface SignInMail {
  subject: string;
  heading: string;
  /** @param to.email the identity provider's placeholder */
  lead(to: { email: string; newEmail: string }): string;
  button: string;
  /** Absent in a mail without a code. */
  beforeCode?: string;
  ending: string;
}

const beforeCode = "Or type this code on the page where you asked for it:";
const ending = "Expires in 1 hour. Didn’t ask for this? Ignore this email.";

export const signIn: Record<"magic_link" | "confirmation" | "email_change", SignInMail> = {
  magic_link: {
    subject: "Sign in to Expenses",
    heading: "Sign in to Expenses",
    lead: ({ email }) => `Sign in as ${email}.`,
    button: "Sign in",
    beforeCode,
    ending,
  },
  confirmation: {
    subject: "Confirm your email address for Expenses",
    heading: "Confirm your email address",
    lead: ({ email }) => `Confirm ${email} to sign in to Expenses.`,
    button: "Confirm and sign in",
    beforeCode,
    ending,
  },
  email_change: {
    subject: "Confirm your new sign-in address for Expenses",
    heading: "Confirm your new sign-in address",
    lead: ({ email, newEmail }) =>
      `Someone signed in as ${email} asked to change the sign-in address to ${newEmail}. To make the change, open the link ` +
      "we sent to each address.",
    button: "Confirm the change",
    ending: "Expires in 1 hour. Didn’t ask for this? Ignore this email, and nothing changes.",
  },
};
