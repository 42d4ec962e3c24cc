/** The front page. */
export const frontPage = {
  title: "Expenses and bills, kept by your assistant",
  heading: "Your AI assistant keeps your expenses and bills",
  lead:
    "Connect Claude, ChatGPT, Cursor or any other assistant that speaks MCP, and tell it what you spend. It writes " +
    "it down, knows what’s due, and can undo what it got wrong.",
  account: "Your account",
  start: "Sign in or sign up",
  say: "What you can say",
  examples: [
    "“Log 14.50 for lunch yesterday.”",
    "“What’s due this week?”",
    "“Mark the rent as paid.”",
    "“What did I spend on travel this year, compared with last?”",
  ],
  connect: "How to connect",
  connectLead: "Give your assistant this address. It sends you here to sign in and to choose what it may use.",
  /** For search engines and previews. */
  description:
    "Tell Claude, ChatGPT, Cursor or another assistant what you spend. It logs expenses, knows which bills are due, " +
    "reminds you, and can undo what it got wrong.",
  costs: "What it costs",
  includes: {
    pro: "Connect assistants, import statements, get reminders by email.",
    team: "Everything in Pro for everybody you invite, and amounts fetched from bill providers.",
  },
  trial: "Everything is free to try for 14 days, without a card.",
  seePrices: "See plans and prices",
  trustTitle: "Your data stays yours",
  trust: "An assistant sees only the organization you choose, and never your provider keys. You can undo any " +
    "change for 30 days, disconnect any app at once, and export or delete everything at any time.",
  privacy: "How we handle your data",
};
