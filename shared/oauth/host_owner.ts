/**
 * The owner of a host according to the public suffix list, including its private part: the domain's registrant, or the
 * holder of a name under a shared domain.
 */
import { parse } from "tldts";

export interface HostOwner {
  /** The registered domain (`acme.co.uk`), or the name under a shared one (`acme.github.io`); else the host itself. */
  domain: string;
  /** Its distinctive part: `acme`. Empty when nothing is registered. */
  label: string;
  /** Whether anyone can get a name under this shared domain, so that the domain does not identify its owner. */
  isShared: boolean;
}

/** @param host of a URL; a port is ignored */
export function ownerOf(host: string): HostOwner {
  const { hostname, domain, domainWithoutSuffix, isPrivate } = parse(host, { allowPrivateDomains: true });
  return {
    domain: domain ?? hostname ?? host,
    label: (domainWithoutSuffix ?? "").replaceAll("-", ""),
    isShared: isPrivate === true,
  };
}
