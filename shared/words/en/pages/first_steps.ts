/** How to connect an AI client, and the first steps of a new person. */

export const connecting = {
  copy: "Copy",
  copied: "Copied",
  claude: "Add to Claude",
  cursor: "Add to Cursor",
  vsCode: "Add to VS Code",
  /** For clients without a link. */
  clients: [
    {
      name: "Steps for Claude",
      steps: [
        "Open Customize, then Connectors.",
        "Press +, choose “Add custom connector” and paste the address.",
        "Press Connect. You come back here to allow it.",
      ],
    },
    {
      name: "Steps for ChatGPT",
      steps: [
        "Open Settings, then Apps, and turn on developer mode under Advanced settings.",
        "Choose Create app, paste the address, and select OAuth.",
        "You come back here to allow it. Then switch it on in a chat, under the plus sign.",
      ],
    },
    {
      name: "Steps for any other app",
      steps: [
        "Look for “MCP server” or “connector” in its settings, and add a remote one (Streamable HTTP).",
        "Paste the address. The app opens this site to let you allow it.",
      ],
    },
  ],
};

export const firstSteps = {
  title: "First steps",
  done: "Done",
  app: "Connect an app",
  appLead: "Give your assistant this address. It then sends you here to allow the connection.",
  expense: "Log your first expense",
  expenseLead: "Tell your assistant: “Log 14.50 for lunch today.”",
  bill: "Add your first bill",
  billLead: "Tell your assistant: “Add my rent, 900 a month, due on the 1st.”",
};
