/** Database calls of the authorization server: one per request. Times are instants, hashes lower-case hex SHA-256. */
import { expectAnswer, hasOutcome } from "./answer.ts";
import type { Database, FunctionName } from "./client.ts";
import type { Role } from "../roles.ts";
import { type ClientLimits, type ClientRoom, type Limited, type Quota, withinLimits } from "./quota.ts";

export interface StoredClient {
  client_id: string;
  client_name: string;
  redirect_uris: string[];
}

/** An organization that a person may connect a client to. */
export interface ConsentOrganization {
  organization_id: string;
  name: string;
  role: Role;
  /** The plan whose features currently apply. */
  plan: "free" | "pro" | "team";
  /** Whether that plan includes the AI connector. */
  has_connector: boolean;
  /** Whether the person's assistants may approve proposals there. */
  may_decide: boolean;
  /** Null unless a trial has ended. */
  trial_ended_at: string | null;
}

export interface OpenedConsent {
  client: StoredClient | null;
  /** Redirect URIs the person has already approved for this client; empty when nobody is signed in. */
  approved: string[];
  /** False when nobody is signed in, and for people who have not chosen their country yet. */
  onboarded: boolean;
  /** Off unless the operator sells plans. */
  plans_enabled: boolean;
  organizations: ConsentOrganization[];
}

/** The same for a client that publishes its metadata, with the state of its document. */
export interface OpenedDocumentConsent extends OpenedConsent {
  /** `due`: fetch it now. `limited`: do not fetch for `retry_after` seconds; the client is as last fetched, or null. */
  document: "fresh" | "due" | "limited";
  retry_after: number;
  /** Whether the last known version may be used when the document cannot be fetched. */
  serves_stale: boolean;
}

type Refused<Outcome extends string> = { outcome: Outcome };

export type Approval =
  | { outcome: "approved"; organization_id: string; approved_at: string }
  | Refused<"already_decided" | "unknown_client" | "not_a_member" | "feature_not_in_plan">;

export type Redemption =
  | { outcome: "redeemed"; grant_id: string; expires_in: number }
  | Refused<"unknown_client" | "not_a_member" | "burnt" | "replayed">;

export type Rotation =
  | { outcome: "rotated"; grant_id: string; successor_hash: string; expires_in: number }
  | Refused<"unknown_client" | "unknown_token">
  | { outcome: "revoked" | "expired" | "suspended" | "replayed"; grant_id: string };

export type Revocation =
  | { outcome: "revoked"; grant_id: string }
  | Refused<"unknown_client" | "unknown_token">;

/** The client and the person that consent is requested for. */
interface Asked {
  clientId: string;
  userId: string | null;
  at: Date;
}

const isConsent = (answer: Record<string, unknown>) =>
  hasOutcome()(answer) || ("client" in answer && Array.isArray(answer.organizations));

export type OAuthStore = ReturnType<typeof createOAuthStore>;

/** Every method throws what `Database.call` throws, `unavailable` on a malformed answer, and `rate_limited`. */
export function createOAuthStore(database: Database) {
  async function call<Result extends object>(
    name: FunctionName,
    args: Record<string, unknown>,
    isOne: (answer: Record<string, unknown>) => boolean,
  ): Promise<Result> {
    return withinLimits(expectAnswer<Result | Limited>(name, await database.call(name, args), isOne));
  }
  return {
    registerClient: (client: {
      clientId: string;
      clientName: string;
      redirectUris: readonly string[];
      quotas: readonly Quota[];
      /** Null without a limit. */
      room: ClientRoom | null;
      at: Date;
    }) =>
      call<{ outcome: "registered" }>("register_client", {
        client_id: client.clientId,
        client_name: client.clientName,
        redirect_uris: client.redirectUris,
        at: client.at,
        quotas: client.quotas,
        room: client.room,
      }, hasOutcome("registered")),

    /** For a request that is rejected for any client. */
    findClient: ({ clientId, at, limits }: { clientId: string; at: Date; limits: ClientLimits }) =>
      call<{ outcome: "found" | "unknown_client" }>(
        "find_client",
        { client_id: clientId, at, limits },
        hasOutcome("found", "unknown_client"),
      ),

    /** @param userId null when nobody is signed in. */
    openConsent: ({ clientId, userId, quotas, at }: Asked & { quotas: readonly Quota[] }) =>
      call<OpenedConsent>("open_consent", { client_id: clientId, user_id: userId, at, quotas }, isConsent),

    /**
     * @param quotas cost of the page; @param documentQuotas cost of fetching the document, drawn only if it has to be
     *   fetched;
     * @param knownQuotas used instead for a client that somebody has connected.
     */
    openDocumentConsent: (
      { clientId, userId, quotas, documentQuotas, knownQuotas, at }: Asked & {
        quotas: readonly Quota[];
        documentQuotas: readonly Quota[];
        knownQuotas: readonly Quota[];
      },
    ) =>
      call<OpenedDocumentConsent>("open_document_consent", {
        client_id: clientId,
        user_id: userId,
        quotas: documentQuotas,
        at,
        page_quotas: quotas,
        known_quotas: knownQuotas,
      }, (answer) => isConsent(answer) && (answer.outcome === "limited" || typeof answer.document === "string")),

    /** Stores what a client's document says, and opens consent with it. */
    storeClientDocument: (
      document: {
        clientId: string;
        clientName: string;
        redirectUris: readonly string[];
        freshUntil: Date;
        userId: string | null;
        /** Null without a limit. */
        room: ClientRoom | null;
        at: Date;
      },
    ) =>
      call<OpenedConsent>("store_client_document", {
        client_id: document.clientId,
        client_name: document.clientName,
        redirect_uris: document.redirectUris,
        fresh_until: document.freshUntil,
        user_id: document.userId,
        at: document.at,
        room: document.room,
      }, isConsent),

    approveConsent: (
      consent: { id: string; clientId: string; userId: string; organizationId: string; at: Date },
    ) =>
      call<Approval>("approve_consent", {
        consent_id: consent.id,
        client_id: consent.clientId,
        user_id: consent.userId,
        organization_id: consent.organizationId,
        at: consent.at,
      }, hasOutcome("approved", "already_decided", "unknown_client", "not_a_member", "feature_not_in_plan")),

    /** Redeems a code whose contents have been verified. */
    redeemCode: (code: {
      id: string;
      expiresAt: Date;
      clientId: string;
      redirectUri: string;
      userId: string;
      organizationId: string;
      resource: string;
      accessTokenHash: string;
      refreshTokenHash: string;
      at: Date;
      limits: ClientLimits;
    }) =>
      call<Redemption>("redeem_authorization_code", {
        code_id: code.id,
        code_expires_at: code.expiresAt,
        client_id: code.clientId,
        redirect_uri: code.redirectUri,
        user_id: code.userId,
        organization_id: code.organizationId,
        resource: code.resource,
        access_token_hash: code.accessTokenHash,
        refresh_token_hash: code.refreshTokenHash,
        at: code.at,
        limits: code.limits,
      }, (answer) =>
        answer.outcome === "redeemed"
          ? Number.isInteger(answer.expires_in)
          : hasOutcome("unknown_client", "not_a_member", "burnt", "replayed")(answer)),

    countWrongVerifier: (code: { id: string; expiresAt: Date; clientId: string; at: Date; limits: ClientLimits }) =>
      call<{ outcome: "counted" | "unknown_client" }>("count_wrong_verifier", {
        code_id: code.id,
        code_expires_at: code.expiresAt,
        client_id: code.clientId,
        at: code.at,
        limits: code.limits,
      }, hasOutcome("counted", "unknown_client")),

    /** Stores the successor hashes, unless another successor already exists; then its hash is returned. */
    rotateRefreshToken: (rotation: {
      tokenHash: string;
      clientId: string;
      successorHash: string;
      accessTokenHash: string;
      at: Date;
      limits: ClientLimits;
    }) =>
      call<Rotation>("rotate_refresh_token", {
        token_hash: rotation.tokenHash,
        client_id: rotation.clientId,
        successor_hash: rotation.successorHash,
        access_token_hash: rotation.accessTokenHash,
        at: rotation.at,
        limits: rotation.limits,
      }, (answer) =>
        answer.outcome === "rotated"
          ? typeof answer.successor_hash === "string" && Number.isInteger(answer.expires_in)
          : hasOutcome("unknown_client", "unknown_token", "revoked", "expired", "suspended", "superseded", "replayed")(
            answer,
          )),

    revokeToken: (token: { tokenHash: string; clientId: string; at: Date; limits: ClientLimits }) =>
      call<Revocation>("revoke_token", {
        token_hash: token.tokenHash,
        client_id: token.clientId,
        at: token.at,
        limits: token.limits,
      }, hasOutcome("revoked", "unknown_client", "unknown_token")),

    /** Resolves with the schema version when the database answers. */
    ping: () => database.call<{ schema: number }>("ping", {}),
  };
}
