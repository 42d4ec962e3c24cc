/**
 * Twelve random bytes for one encryption (NIST SP 800-38D §8.2.2). Unlike other randomness this is not injected:
 * reusing a nonce would reveal both plaintexts.
 */
export const createNonce = () => crypto.getRandomValues(new Uint8Array(12));
