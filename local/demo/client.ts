/** An AI client without a model: the MCP SDK's client and OAuth flow, and a person who clicks Allow. */
// The package maps its types without the file extension that the code needs.
// @ts-types="@modelcontextprotocol/sdk/client/auth"
import { type OAuthClientProvider, UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client } from "@modelcontextprotocol/sdk/client";

/** No server listens there, because the client reads the response from the redirect itself. */
export const REDIRECT_URI = "http://127.0.0.1:33418/callback";

type Stored = Awaited<ReturnType<OAuthClientProvider["clientInformation"]>>;
type Tokens = Awaited<ReturnType<OAuthClientProvider["tokens"]>>;

/** The client's sign-in state, in memory, so that every run signs in again. */
export class MemoryProvider implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT_URI;
  readonly clientMetadata;
  authorizationUrl?: URL;
  #client: Stored;
  #tokens: Tokens;
  #verifier = "";

  constructor(clientName: string) {
    this.clientMetadata = {
      client_name: clientName,
      redirect_uris: [REDIRECT_URI],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }

  state = () => crypto.randomUUID();
  clientInformation = () => this.#client;
  saveClientInformation = (client: Stored) => void (this.#client = client);
  tokens = () => this.#tokens;
  saveTokens = (tokens: Tokens) => void (this.#tokens = tokens);
  redirectToAuthorization = (url: URL) => void (this.authorizationUrl = url);
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
  codeVerifier = () => this.#verifier;
}

/**
 * Connects to a connector that requires a sign-in.
 * @param decide guides a person through an authorization request and returns the redirect URI with the code.
 */
export async function connect(
  mcpUrl: string,
  { clientName, decide }: { clientName: string; decide: (authorizationUrl: URL) => Promise<URL> },
): Promise<{ client: Client; provider: MemoryProvider }> {
  const provider = new MemoryProvider(clientName);
  const openTransport = () => new StreamableHTTPClientTransport(new URL(mcpUrl), { authProvider: provider });
  const newClient = () => new Client({ name: clientName, version: "1.0.0" });

  const refused = openTransport();
  await newClient().connect(refused).catch((error) => {
    if (!(error instanceof UnauthorizedError)) throw error;
  });
  const answer = await decide(provider.authorizationUrl!);
  const code = answer.searchParams.get("code");
  if (!code) throw new Error(`The sign-in ended with ${answer.searchParams.get("error")}`);
  await refused.finishAuth(code);

  const client = newClient();
  await client.connect(openTransport());
  return { client, provider };
}
