/** Paths of the provider pages, and the names of their form fields. */

export const connectPath = (billId: string, providerKey?: string): string =>
  `/account/providers/connect?${new URLSearchParams({ bill: billId, ...(providerKey && { provider: providerKey }) })}`;

/** @param trial.isWaiting whether the provider had no final amount yet when the credential was tried. */
export const connectedPath = (billId: string, { isWaiting }: { isWaiting: boolean }): string =>
  `/account/providers/connected?${new URLSearchParams({ bill: billId, ...(isWaiting && { amount: "none" }) })}`;

export const removePath = (linkId: string): string =>
  `/account/providers/remove?${new URLSearchParams({ link: linkId })}`;

/** The form field for a provider's field; the prefix separates it from our own fields. */
export const fieldName = (name: string): string => `credential_${name}`;
