/** The page of one change. */
export const changePath = (organizationId: string, changeId: string): string =>
  `/account/activity?${new URLSearchParams({ organization: organizationId, change: changeId })}`;
