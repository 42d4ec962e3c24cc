/**
 * The hosts of files that ChatGPT passes to tools. OpenAI publishes no list. The list contains the storage accounts
 * that other projects have observed, with their full names, because anybody can register another account.
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
