/** The frame of every page, and texts that several pages share. */
export const frame = {
  service: "Expenses",
  title: (page: string): string => `${page} · Expenses`,
  skip: "Skip to content",
  account: "Account",
  books: "Books",
  signOut: "Sign out",
  /** The accessible name of the switcher, after the organization's name. */
  switchOrganization: "(switch organization)",
  about: "About the service",
  support: "Support",
  privacy: "Privacy",
  terms: "Terms",
  /** The placeholder of a select. */
  choose: "Please choose",
  goToAccount: "Go to your account",
  request: "Request",
};
