/** Where the page of the chart is read from: an address of MCP Apps, which no browser ever loads. */
export const CHART_URI = "ui://expenses/spending-chart";
