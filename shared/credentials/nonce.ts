/** Twelve random bytes for one encryption (NIST SP 800-38D §8.2.2). Not an argument as random is elsewhere: given twice, it would give both texts away. */
export const createNonce = () => crypto.getRandomValues(new Uint8Array(12));
