/** Texts in the directories' forms that the connector itself does not contain. */

/** Placeholder for the operator's host in the files. */
export const SITE = "https://expenses.example.com";

export const APP = {
  name: "Expenses",
  /** ChatGPT: 30 characters. */
  subtitle: "Expenses and bills by chat",
  /** Claude: 55 characters. */
  tagline: "Log expenses, track bills, see where the money went",
  /** The MCP registry: 100 characters. */
  summary: "Log expenses, keep track of recurring bills and ask where the money went.",
  description:
    "Keeps the expenses and recurring bills of a household or a small company. People log expenses, import a bank's file, " +
    "ask what is due and what they spent, and mark bills as paid. Totals are exact and in one currency. Several members " +
    "share the books with roles, approvals and a log of every change, and every write can be undone for 30 days. It " +
    "moves no money, pays no bills and reads no bank account.",
  category: "FINANCE",
};

export const EXAMPLES = [
  {
    description: "Log an expense.",
    user_prompt: "Log 14.50 EUR for lunch at Trattoria Limone yesterday.",
    tools_triggered: "log_expenses",
    expected_output:
      "Confirms one expense of 14.50 EUR with yesterday's date and its category, and says how to undo it.",
  },
  {
    description: "Ask what is due.",
    user_prompt: "Which bills are due in the next two weeks?",
    tools_triggered: "list_bills",
    expected_output: "Lists the bills with their dates and amounts, the overdue ones first, and their total.",
  },
  {
    description: "Add up spending.",
    user_prompt: "What did we spend by category last month?",
    tools_triggered: "summarize_spending",
    expected_output: "Shows a total in EUR and the amount of each category for last month.",
  },
  {
    description: "Draw the chart.",
    user_prompt: "Show me a chart of this month's spending by category.",
    tools_triggered: "show_spending_chart",
    expected_output: "Draws bars for the categories in the conversation, with the total above.",
  },
  {
    description: "Pay a bill, and undo it.",
    user_prompt: "Mark the electricity bill as paid, then undo that.",
    tools_triggered: "mark_bill_paid, undo_change",
    expected_output: "Records the payment, then reverses it; the bill is open again.",
  },
] as const;

export const COUNTEREXAMPLES = [
  {
    description: "A calendar is out of scope.",
    user_prompt: "What meetings do I have tomorrow?",
    expected_output: "The app is not used: it keeps no appointments.",
  },
  {
    description: "It moves no money.",
    user_prompt: "Transfer 200 EUR from my bank account to my landlord.",
    expected_output: "The app is not used: it records payments and makes none.",
  },
  {
    description: "General advice needs no books.",
    user_prompt: "How does compound interest work?",
    expected_output: "The app is not used: the answer needs nothing from the person's books.",
  },
] as const;
