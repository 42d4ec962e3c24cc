/**
 * The hosts of files that ChatGPT passes to tools. OpenAI publishes no list. Its storage accounts are the ones that other projects observed, by their whole name, because
 * anybody can register another account.
 */
export const CHATGPT_FILE_HOSTS = [
  "oaiusercontent.com",
  "openai.com",
  ...[
    "westus",
    "westus3",
    "eastus",
    "eastus2",
    "centralus",
    "northcentralus",
    "southcentralus",
    "westcentralus",
    "indiasocentral",
  ].map((region) => `oaisdmntpr${region}.blob.core.windows.net`),
];
