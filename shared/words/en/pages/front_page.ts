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
    "“Mark the rent paid.”",
    "“What did I spend on travel this year, compared with last?”",
  ],
  connect: "How to connect",
  connectLead: "Give your assistant this address. It sends you here to sign in and to choose what it may use.",
};
