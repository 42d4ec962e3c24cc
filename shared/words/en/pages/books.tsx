/** @jsxImportSource hono/jsx */
/** The books at a glance. */
import type { Child } from "hono/jsx";

export const books = {
  title: "Books",
  heading: (organization: Child) => <>The books of {organization}</>,
  search: "Search expenses",
  searchReason: "Finds words in names, payees and notes.",
  searchButton: "Search",
  due: "Due",
  overdue: "Overdue",
  /** Automatic payments without an amount. */
  awaited: "Waiting for an amount",
  thisWeek: "Within a week",
  later: (count: number, shown: string): string => count === 1 ? "1 payment later" : `${shown} payments later`,
  dueBy: (day: Child) => <>Due by {day}</>,
  nothing: "Nothing",
  payments: (count: number, shown: string): string => count === 1 ? "1 payment" : `${shown} payments`,
  withOverdue: "including overdue bills",
  withoutUnknown: "without unknown amounts",
  about: (amounts: Child, isEstimate: boolean) => isEstimate ? <>About {amounts}</> : amounts,
  /** A change of spending from the month before. @param now.isRunning whether the month is still running */
  change: ({ percent, change, isRunning }: { percent: string; change: number; isRunning: boolean }): string => {
    const then = isRunning ? "at this point last month" : "the month before";
    return change === 0 ? `about as much as ${then}` : `${percent} ${change < 0 ? "less" : "more"} than ${then}`;
  },
  overBudget: (over: number, shown: string, all: string): string =>
    over === 0 ? "None over" : `${shown} of ${all} over`,
  nothingDue: "Nothing is overdue or due in the next 30 days.",
  moreBills: "Some bills are not shown here.",
  askForRest: "Ask your assistant for the rest.",
  dueOn: (day: Child) => <>due {day}</>,
  overdueSince: (day: Child) => <>since {day}</>,
  moreOverdue: (name: Child, count: string) => <>{name} has {count} overdue dates. The oldest are shown.</>,
  /** For a bill with more dates than the page shows. @param dates `count`, and their cost by its kind of amount */
  allDates: {
    count: (count: string, day: Child) => <>{count} payments by {day}</>,
    fixed: (dates: Child, amount: string) => <>{dates}, {amount} in total</>,
    estimated: (dates: Child, amount: string) => <>{dates}, about {amount} in total</>,
    variable: (dates: Child, amount: string) => <>{dates}, about {amount} in total</>,
  },
  estimate: (amount: string): string => `about ${amount}`,
  unknownAmount: "Amount not known yet",
  autopay: "Paid automatically",
  pay: "Mark as paid",
  payOf: (name: string, day: string): string => `Mark as paid: ${name}, due ${day}`,
  amountOf: (name: string, day: string, currency: string): string => `Amount of ${name}, due ${day}, in ${currency}`,
  month: (month: string): string => `Spent in ${month}`,
  previous: (month: string): string => `← ${month}`,
  next: (month: string): string => `${month} →`,
  months: "Other months",
  nothingSpent: "Nothing was spent this month.",
  /** For a month without other spending. */
  withoutRate: (amounts: string, currency: string): string =>
    `${amounts}, without a known exchange rate to ${currency}.`,
  income: (amounts: string): string => `Income: ${amounts}`,
  total: (amount: string): string => `Total: ${amount}`,
  plusUnconverted: (amount: string): string => `plus ${amount} without an exchange rate`,
  unconverted: (amounts: string): string => `Not included, because there’s no exchange rate: ${amounts}.`,
  budget: {
    left: (left: string, limit: string): string => `${left} left of ${limit}`,
    over: (over: string, limit: string): string => `${over} over the budget of ${limit}`,
    /** Earlier overspending used up the whole budget. */
    usedBefore: (spent: string): string => `${spent} spent; earlier overspending used up the budget`,
    /** For the budget of all spending. */
    all: (left: string): string => `All spending: ${left}`,
    whole: { month: "All spending, monthly", year: "All spending, yearly" },
    yearly: (category: Child) => <>{category}, yearly</>,
  },
  budgets: "Budgets",
  balances: "Shared costs",
  /** Without a name, it is a former member, here and below. */
  youOwe: (whom: Child | undefined, sum: string) => <>You owe {whom ?? "a former member"} {sum}</>,
  owesYou: (who: Child | undefined, sum: string) => <>{who ?? "A former member"} owes you {sum}</>,
  owes: (who: Child | undefined, whom: Child | undefined, sum: string) => (
    <>
      {who ?? "A former member"} owes {whom ?? "a former member"} {sum}
    </>
  ),
  formerMember: "a former member",
  you: "you",
  /** For an expense. @param shares "you €23.40, ben@example.com €23.40" */
  paidBy: (payer: Child, shares: Child) => <>Paid by {payer} · shares: {shares}</>,
  share: (who: Child, sum: string) => <>{who} {sum}</>,
  /** For a bill. @param how "equally between …" */
  pays: (payer: Child, how: string) => <>{payer} pays, split {how}</>,
  youPay: (how: string): string => `You pay, split ${how}`,
  splits: (how: string): string => `Split ${how}`,
  settle: "Once money has changed hands, ask your assistant to settle up.",
  documents: "Documents to sort",
  noDocuments: "Nothing to sort. Upload a receipt or an invoice to match it with your books.",
  cameIn: (day: Child) => <>Added on {day}</>,
  otherAccount: "Asks to be paid into a different account",
  moreDocuments: "Your assistant can list the rest.",
  upload: "Upload documents",
  latest: "Latest expenses",
  earlier: "Earlier expenses",
  older: "Older expenses",
  noExpenses: "There are no expenses yet.",
  found: (count: number, shown: string): string => count === 1 ? "1 result" : `${shown} results`,
  foundTotal: (amounts: string): string => `${amounts} in total.`,
  results: (query: Child) => <>Results for “{query}”</>,
  noneFound: "Nothing was found. Try a part of the name or payee.",
  refund: "Refund",
  isEstimate: "Estimate",
  hasDocument: "With a document",
  all: "Back to the books",
  paid: (name: Child, amount: string, day: Child) => <>{name} is paid: {amount}, due {day}.</>,
  undone: (name: Child, day: Child) => <>The payment of {name} due {day} was undone.</>,
  undo: "Undo",
  undoOf: (name: string): string => `Undo the payment of ${name}`,
  news: {
    already: "This date was already paid, skipped or moved. Nothing was paid twice.",
    changed: "The amount has changed since you opened this page, so nothing was marked as paid. Check it below.",
    refused:
      "Nothing was changed. The plan of this organization doesn’t include changes, or you’re no longer a member.",
    role: "Your role doesn’t let you mark bills as paid, so nothing was changed. Ask the owner.",
    closed:
      "That month is closed, so nothing was changed. The owner or a manager can reopen it through their assistant.",
    amount: "Fill in the amount as a number, such as 14.50. Nothing was marked as paid.",
    failed: "This can’t be marked as paid here. Nothing was changed. Your assistant can tell you why.",
    undone: "Undone. The bill is due again.",
    joined: "You’re in. Connect your assistant from your account page to add expenses and bills.",
    not_undone: "This can’t be undone any more, because something has changed since.",
  },
  none: {
    title: "You’re not in an organization",
    message: "Create an organization on your account page, or ask somebody to invite you to theirs.",
  },
};
