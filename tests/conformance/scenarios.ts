/** The parts of the official suite that apply to this server, and checks that require the suite's own fixture tools. */

/** Package and version of the suite. */
export const SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";

export interface Scenario {
  name: string;
  /** Ids of checks that call a tool of the suite, which a real server does not have. */
  needFixtureTools?: string[];
}

/** Scenarios of `conformance server`, both protocol eras. */
export const SERVER_SCENARIOS: Scenario[] = [
  { name: "server-initialize" },
  { name: "ping" },
  { name: "tools-list" },
  { name: "prompts-list" },
  { name: "resources-list" },
  { name: "dns-rebinding-protection" },
  { name: "http-header-validation" },
  { name: "caching" },
  { name: "sep-2164-resource-not-found" },
  { name: "input-required-result-unsupported-methods" },
  {
    name: "server-stateless",
    needFixtureTools: [
      "sep-2575-server-rejects-undeclared-capability", // test_missing_capability
      "sep-2575-missing-capability-http-400", // test_missing_capability
      "sep-2575-http-server-no-independent-requests-on-stream", // test_streaming_elicitation
      "sep-2575-server-no-log-without-loglevel", // test_logging_tool
    ],
  },
];

/** Scenarios of `conformance authorization`; the second needs a person who clicks Allow. */
export const AUTHORIZATION_SCENARIOS: Scenario[] = [
  { name: "authorization-server-metadata-endpoint" },
  { name: "authorization-code-grant" },
];
