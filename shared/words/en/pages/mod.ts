/** All pages in English. */
export { account, alerts, apps, disconnect, organization, reminderEmail, reminders } from "./account.tsx";
export { calendarCreated, calendarFeed, calendars } from "./calendar.tsx";
export { consent, consentRefusals } from "./consent.tsx";
export { deleteAccount, deleteOrganization } from "./deletion.tsx";
export { frame } from "./frame.ts";
export { frontPage } from "./front_page.ts";
export { onboarding } from "./onboarding.tsx";
export { plan } from "./plan.ts";
export { failures, fileLabels, problems } from "./problems.ts";
export {
  chooseProvider,
  connectProvider,
  connectRefusals,
  credentials,
  providerConnected,
  providerLinks,
  removeProvider,
  trials,
} from "./providers.tsx";
export { confirm, login, sent, signInFailures } from "./sign_in.tsx";
export { unsubscribe } from "./unsubscribe.tsx";
export { upload, uploaded, uploadFailures, uploadRefusals } from "./uploads.tsx";
