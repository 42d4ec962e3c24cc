/** The URI of the chart's page, in the scheme of MCP Apps; no browser loads it. */
export const CHART_URI = "ui://expenses/spending-chart";
