/**
 * Database calls of the authorization server: one per request. Times are instants; hashes are lower-case hex SHA-256.
 */
import * as z from "zod/mini";
import { either, outcome } from "../outcome.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";
import { Access } from "../oauth/access.ts";
import { Role } from "../roles.ts";
import { type ClientLimits, type ClientRoom, Limited, type Quota, withinLimits } from "./quota.ts";

export const StoredClient = z.object({
  client_id: z.string(),
  client_name: z.string(),
  redirect_uris: z.array(z.string()),
});
export type StoredClient = z.infer<typeof StoredClient>;

/** An organization that a person may connect a client to. */
export const ConsentOrganization = z.object({
  organization_id: z.string(),
  name: z.string(),
  role: Role,
  /** The plan whose features currently apply. */
  plan: z.enum(["free", "pro", "team"]),
  /** Whether that plan includes the AI connector. */
  has_connector: z.boolean(),
  /** Whether the person's assistants may approve proposals there. */
  may_decide: z.boolean(),
  /** Null unless a trial has ended. */
  trial_ended_at: z.nullable(z.string()),
});
export type ConsentOrganization = z.infer<typeof ConsentOrganization>;

export const OpenedConsent = z.object({
  client: z.nullable(StoredClient),
  /** Redirect URIs that the person has already approved for this client; empty when nobody is signed in. */
  approved: z.array(z.string()),
  /** Whether the person has limited this client to reading in some organization; absent in the previous schema. */
  narrowed: z._default(z.boolean(), false),
  /** False when nobody is signed in, and for people who have not chosen their country yet. */
  onboarded: z.boolean(),
  /** Off unless the operator sells plans. */
  plans_enabled: z.boolean(),
  organizations: z.array(ConsentOrganization),
});
export type OpenedConsent = z.infer<typeof OpenedConsent>;

/** The same for a client that publishes its metadata, with the state of its document. */
export const OpenedDocumentConsent = z.extend(OpenedConsent, {
  /**
   * `due`: fetch it now. `limited`: do not fetch for `retry_after` seconds; the client is the last fetched version, or
   * null.
   */
  document: z.enum(["fresh", "due", "limited"]),
  retry_after: z.number(),
  /** Whether the last known version may be used when the document cannot be fetched. */
  serves_stale: z.boolean(),
});
export type OpenedDocumentConsent = z.infer<typeof OpenedDocumentConsent>;

export const Approval = either(
  outcome(["approved"], { organization_id: z.string(), approved_at: z.string(), access: z._default(Access, "write") }),
  outcome(["already_decided", "unknown_client", "not_a_member", "feature_not_in_plan"]),
);

export const Redemption = either(
  outcome(["redeemed"], { grant_id: z.string(), expires_in: z.number() }),
  outcome(["unknown_client", "not_a_member", "burnt", "replayed"]),
);
export type Redemption = z.infer<typeof Redemption>;

export const Rotation = either(
  outcome(["rotated"], { grant_id: z.string(), successor_hash: z.string(), expires_in: z.number() }),
  outcome(["unknown_client", "unknown_token"]),
  outcome(["revoked", "expired", "suspended", "replayed"], { grant_id: z.string() }),
);
export type Rotation = z.infer<typeof Rotation>;

export const Revocation = either(
  outcome(["revoked"], { grant_id: z.string() }),
  outcome(["unknown_client", "unknown_token"]),
);

/** The client and the person whose consent is requested. */
interface Asked {
  clientId: string;
  userId: string | null;
  at: Date;
}

export type OAuthStore = ReturnType<typeof createOAuthStore>;

export const ANSWERS = {
  register_client: either(outcome(["registered"]), Limited),
  find_client: either(outcome(["found", "unknown_client"]), Limited),
  open_consent: z.union([OpenedConsent, Limited]),
  open_document_consent: z.union([OpenedDocumentConsent, Limited]),
  store_client_document: z.union([OpenedConsent, Limited]),
  approve_consent: Approval,
  redeem_authorization_code: either(Redemption, Limited),
  count_wrong_verifier: either(outcome(["counted", "unknown_client"]), Limited),
  rotate_refresh_token: either(Rotation, Limited),
  revoke_token: either(Revocation, Limited),
  ping: z.object({ schema: z.number() }),
};

/** Absent for full access, because the previous schema's functions don't have this argument. */
const narrowedTo = (access: Access) => access === "read" ? { access } : {};

/** Every method throws what `Database.call` throws, `unavailable` on a malformed answer, and `rate_limited`. */
export function createOAuthStore(database: Database) {
  const ask = asking(database, ANSWERS);
  const call = async <Name extends keyof typeof ANSWERS>(name: Name, args: Record<string, unknown>) =>
    withinLimits(await ask(name, args));
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
      call("register_client", {
        client_id: client.clientId,
        client_name: client.clientName,
        redirect_uris: client.redirectUris,
        at: client.at,
        quotas: client.quotas,
        room: client.room,
      }),

    /** For a request that is rejected whatever the client. */
    findClient: ({ clientId, at, limits }: { clientId: string; at: Date; limits: ClientLimits }) =>
      call(
        "find_client",
        { client_id: clientId, at, limits },
      ),

    /** @param userId null when nobody is signed in */
    openConsent: ({ clientId, userId, quotas, at }: Asked & { quotas: readonly Quota[] }) =>
      call("open_consent", { client_id: clientId, user_id: userId, at, quotas }),

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
      call("open_document_consent", {
        client_id: clientId,
        user_id: userId,
        quotas: documentQuotas,
        at,
        page_quotas: quotas,
        known_quotas: knownQuotas,
      }),

    /** Stores a client's metadata document and opens consent with it. */
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
      call("store_client_document", {
        client_id: document.clientId,
        client_name: document.clientName,
        redirect_uris: document.redirectUris,
        fresh_until: document.freshUntil,
        user_id: document.userId,
        at: document.at,
        room: document.room,
      }),

    approveConsent: (
      consent: { id: string; clientId: string; userId: string; organizationId: string; access: Access; at: Date },
    ) =>
      call("approve_consent", {
        consent_id: consent.id,
        client_id: consent.clientId,
        user_id: consent.userId,
        organization_id: consent.organizationId,
        ...narrowedTo(consent.access),
        at: consent.at,
      }),

    /** Redeems a code after its contents were verified. */
    redeemCode: (code: {
      id: string;
      expiresAt: Date;
      clientId: string;
      redirectUri: string;
      userId: string;
      organizationId: string;
      resource: string;
      access: Access;
      accessTokenHash: string;
      refreshTokenHash: string;
      at: Date;
      limits: ClientLimits;
    }) =>
      call("redeem_authorization_code", {
        code_id: code.id,
        code_expires_at: code.expiresAt,
        client_id: code.clientId,
        redirect_uri: code.redirectUri,
        user_id: code.userId,
        organization_id: code.organizationId,
        resource: code.resource,
        ...narrowedTo(code.access),
        access_token_hash: code.accessTokenHash,
        refresh_token_hash: code.refreshTokenHash,
        at: code.at,
        limits: code.limits,
      }),

    countWrongVerifier: (code: { id: string; expiresAt: Date; clientId: string; at: Date; limits: ClientLimits }) =>
      call("count_wrong_verifier", {
        code_id: code.id,
        code_expires_at: code.expiresAt,
        client_id: code.clientId,
        at: code.at,
        limits: code.limits,
      }),

    /** Stores the successor hashes. If another successor already exists, returns its hash. */
    rotateRefreshToken: (rotation: {
      tokenHash: string;
      clientId: string;
      successorHash: string;
      accessTokenHash: string;
      at: Date;
      limits: ClientLimits;
    }) =>
      call("rotate_refresh_token", {
        token_hash: rotation.tokenHash,
        client_id: rotation.clientId,
        successor_hash: rotation.successorHash,
        access_token_hash: rotation.accessTokenHash,
        at: rotation.at,
        limits: rotation.limits,
      }),

    revokeToken: (token: { tokenHash: string; clientId: string; at: Date; limits: ClientLimits }) =>
      call("revoke_token", {
        token_hash: token.tokenHash,
        client_id: token.clientId,
        at: token.at,
        limits: token.limits,
      }),

    /** Resolves with the schema version when the database responds. */
    ping: () => ask("ping", {}),
  };
}
