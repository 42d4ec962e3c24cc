/** Events for apps, in words for their models and for people. */
export const events = {
  "bill.due": { title: "Bills due", description: "Bills are due within their owner's reminder lead time." },
  "bill.overdue": { title: "Bills overdue", description: "Bills are still unpaid after their due date." },
  "price.rose": { title: "Price rises", description: "The price of a bill rises on its next due date." },
  "budget.reached_80": { title: "Budgets at 80 %", description: "Spending reached 80 % of a budget." },
  "budget.reached_100": { title: "Budgets used up", description: "Spending reached 100 % of a budget." },
  "import.asked": { title: "Questions about statements", description: "A statement was read and has questions." },
  "proposal.waiting": { title: "Changes to approve", description: "A change waits for approval." },
  "proposal.decided": {
    title: "Decided changes",
    description: "A proposed change was approved, rejected or withdrawn.",
  },
  "digest.sent": { title: "Reminder mails", description: "The day's reminder mail was sent." },
  "document.added": {
    title: "New documents",
    description: "New documents arrived; list_documents shows which need a decision.",
  },
};

/** For authors of clients. */
export const eventMethods = {
  refusals: {
    unknownEvent: "Unknown event; see events/list.",
    badArguments: "Events take no arguments.",
    badCursor: "Unknown cursor; start without one.",
    badUrl: "A webhook needs an https URL of at most 2048 characters.",
    badSecret: "The secret must be whsec_ and 24 to 64 bytes in base64.",
    webhooksOnly: "Subscribe to webhooks, or poll; see events/list.",
    callbackFailed: "The webhook did not repeat the challenge.",
    tooMany: "An app has at most 10 subscriptions. Unsubscribe from one first.",
    stopped: "The person stopped events to this app. Only they can allow them again, on their account page.",
    unknownSubscription: "There is no such subscription.",
    failed: "This failed on our side. Try again later.",
  },
};
