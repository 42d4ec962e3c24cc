/** The front page. */
export const frontPage = {
  title: "Expenses and bills, kept by your assistant",
  heading: "Your AI assistant keeps your expenses and bills",
  lead:
    "Connect Claude, ChatGPT, Cursor or any other assistant that speaks MCP, and tell it what you spend. It writes " +
    "it down, knows what’s due, and can undo what it got wrong.",
  account: "Your account",
  start: "Sign in or sign up",
  /** Examples of the product, each with amounts that add up. */
  shown: {
    title: "What you get",
    chart: {
      caption: "In your assistant: “What did we spend this month?”",
      total: "€1,284.10",
      when: "this month",
      compared: "8% less than at this point last month",
      rows: [
        { name: "Housing", amount: "€620.00", value: 620 },
        { name: "Groceries", amount: "€414.35", value: 414.35 },
        { name: "Food", amount: "€151.35", value: 151.35 },
        { name: "Transport", amount: "€98.40", value: 98.4 },
      ],
    },
    digest: {
      caption: "By email, at most once a day",
      overdue: [{ name: "Water", when: "since 30 September", amount: "€96.40" }],
      due: [
        { name: "Broadband", when: "today · paid automatically", amount: "€44.99" },
        { name: "Rent", when: "Monday, 5 October · in 3 days", amount: "€620.00" },
        { name: "Phone", when: "Tuesday, 6 October · in 4 days", amount: "€19.00" },
      ],
      total: "€780.39",
    },
  },
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
