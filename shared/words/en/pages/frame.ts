/** Around every page, and what several of them say. */
export const frame = {
  service: "Expenses",
  title: (page: string): string => `${page} · Expenses`,
  skip: "Skip to content",
  account: "Account",
  signOut: "Sign out",
  about: "About the service",
  support: "Support",
  privacy: "Privacy",
  terms: "Terms",
  /** In a list where nothing is chosen yet. */
  choose: "Please choose",
  goToAccount: "Go to your account",
  request: "Request",
};
