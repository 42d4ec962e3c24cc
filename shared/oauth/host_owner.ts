/** Who owns a host, by the public suffix list (its private part included): the one who registered the domain, or the one who shares it. */
import { parse } from "tldts";

export interface HostOwner {
  /** What somebody registered (`acme.co.uk`), or was given where many share a domain (`acme.github.io`); else the host itself. */
  domain: string;
  /** Its own part, in the letters of a name: `acme`. Empty where nobody registered anything. */
  label: string;
  /** Whether it can be had by anybody at somebody else's domain, so that the domain says nothing about them. */
  isShared: boolean;
}

/** @param host of a URL; a port is left out. */
export function ownerOf(host: string): HostOwner {
  const { hostname, domain, domainWithoutSuffix, isPrivate } = parse(host, { allowPrivateDomains: true });
  return {
    domain: domain ?? hostname ?? host,
    label: (domainWithoutSuffix ?? "").replaceAll("-", ""),
    isShared: isPrivate === true,
  };
}
