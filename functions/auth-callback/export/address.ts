/** Where an organization's books are exported. */
export const exportPath = (organizationId: string): string => `/organizations/${organizationId}/export`;
