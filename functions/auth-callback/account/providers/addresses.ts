/** The addresses of these pages, by what they are about, and the names of what is sent to them. */

export const connectPath = (billId: string, providerKey?: string): string =>
  `/account/providers/connect?${new URLSearchParams({ bill: billId, ...(providerKey && { provider: providerKey }) })}`;

/** @param trial.isWaiting there was no amount when the credential was tried. */
export const connectedPath = (billId: string, { isWaiting }: { isWaiting: boolean }): string =>
  `/account/providers/connected?${new URLSearchParams({ bill: billId, ...(isWaiting && { amount: "none" }) })}`;

export const removePath = (linkId: string): string =>
  `/account/providers/remove?${new URLSearchParams({ link: linkId })}`;

/** A provider's field in the form: apart from our own, whatever an adapter calls its. */
export const fieldName = (name: string): string => `credential_${name}`;
