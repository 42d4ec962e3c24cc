/**
 * Our knowledge about a client: its maker, and the truth of its name. Anybody can register as "Claude", but only
 * Claude's makers can receive a code at their published callback.
 */
import { isDocumentUrl } from "./client_id.ts";
import { ownerOf } from "./host_owner.ts";
import {
  appOfCallback,
  appOfDocument,
  appOfForwarder,
  appOfScheme,
  appsCalled,
  isMakersHost,
  type KnownApp,
} from "./known_makers.ts";
import { hasOddLetters, plainName, saysPlainly, shapeOf } from "./name_letters.ts";
import { judgeRedirectUri } from "./redirect_uri.ts";

export type Publisher =
  /** The maker of a known app has published its redirect URI. */
  | { kind: "verified"; app: string; maker: string; host: string }
  /** Its metadata come from this domain, which alone confirms the owner. */
  | { kind: "published"; host: string }
  /** No one but the client itself confirms its name. */
  | { kind: "unconfirmed" };

export type NameDoubt =
  /** The name uses letters that look like others. */
  | "look_alike"
  /** The name does not match the host, or it matches somebody else. */
  | "not_of_host"
  /** Its redirect URI forwards the response to an unknown place. */
  | "forwarded";

export interface ClientTrust {
  publisher: Publisher;
  /** The most serious doubt; null when the name matches our data. */
  doubt: NameDoubt | null;
  /** The domain of its metadata, otherwise of its redirect URI. */
  host?: string;
}

export interface AskingClient {
  clientId: string;
  name: string;
  redirectUri: string;
}

export function judgeClient({ clientId, name, redirectUri }: AskingClient): ClientTrust {
  const judged = judgeRedirectUri(redirectUri);
  if (!judged.ok) return { publisher: { kind: "unconfirmed" }, doubt: null };
  const { target } = judged;
  // A host that publishes its client's redirect URIs confirms them, so only the name remains to be checked.
  const document = isDocumentUrl(clientId) ? new URL(clientId) : undefined;
  const documentApp = appOfDocument(clientId);
  const callbackApp = appOfCallback(redirectUri);
  const forwarderApp = appOfForwarder(redirectUri);
  const host = document?.host ?? (target.kind === "https" ? target.host : undefined);

  const { isLookAlike, namesakes } = readName(name);
  const isOf = (app: KnownApp | undefined): app is KnownApp =>
    app !== undefined && namesakes.length > 0 && namesakes.every(({ maker }) => maker === app.maker);
  const isTheirs = !document || documentApp?.maker === callbackApp?.maker;
  const isVerified = !isLookAlike && isTheirs && isOf(callbackApp);

  return { publisher: publisherOf(), doubt: doubtOf(), ...(host && { host: ownerOf(host).domain }) };

  function publisherOf(): Publisher {
    if (isVerified) {
      return { kind: "verified", app: callbackApp!.app, maker: callbackApp!.maker, host: new URL(redirectUri).host };
    }
    if (document && (documentApp || !isMakersHost(document.hostname))) {
      return { kind: "published", host: ownerOf(document.host).domain };
    }
    return { kind: "unconfirmed" };
  }

  function doubtOf(): NameDoubt | null {
    if (isLookAlike) return "look_alike";
    if (isVerified) return null;
    const isMakers = isOf(documentApp) || (!document && isOf(forwarderApp));
    if (!isMakers && !isOwnName()) return "not_of_host";
    return forwarderApp ? "forwarded" : null;
  }

  function isOwnName(): boolean {
    if (host !== undefined) return namesakes.length === 0 && isNameOfHost(name, host);
    // A loopback client has no domain to compare its name with. It is as trustworthy as any other program on the
    // computer.
    if (target.kind !== "app") return true;
    return namesakes.length === 0 ? domainsIn(plainName(name)).length === 0 : isOf(appOfScheme(target.scheme));
  }
}

/** The known apps that a name resembles, and whether its spelling could deceive. */
function readName(name: string): { namesakes: readonly KnownApp[]; isLookAlike: boolean } {
  const shape = shapeOf(name);
  const isShaped = (word: string) => shape.includes(shapeOf(word));
  const namesakes = appsCalled(isShaped);
  const isLookAlike = hasOddLetters(name) ||
    namesakes.some(({ names }) => names.some((word) => isShaped(word) && !saysPlainly(name, word)));
  return { namesakes, isLookAlike };
}

const DOMAIN = /[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}/gu;
const domainsIn = (plain: string): readonly string[] => plain.replaceAll("。", ".").match(DOMAIN) ?? [];

/** Whether the name is the registered name of the host. Never true on shared domains. */
function isNameOfHost(name: string, host: string): boolean {
  const { label, isShared } = ownerOf(host);
  const hostname = host.replace(/:\d+$/, "");
  const plain = plainName(name);
  const isElsewhere = (domain: string) => hostname !== domain && !hostname.endsWith(`.${domain}`);
  return !isShared && !domainsIn(plain).some(isElsewhere) && isWrittenIn(plain, label);
}

/** Words that reveal nothing about the maker. */
const COMMON = new Set(["app", "client", "for", "mcp", "the", "unnamed"]);

/** Whether adjacent, meaningful words of the name spell the label. */
function isWrittenIn(name: string, label: string): boolean {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.some((_, from) => {
    for (let to = from + 1; to <= words.length; to++) {
      const run = words.slice(from, to);
      if (run.join("") === label) return label.length >= 3 && run.some((word) => !COMMON.has(word));
      if (run.join("").length > label.length) break;
    }
    return false;
  });
}
