/** All pages in English. */
export {
  access,
  account,
  alerts,
  apps,
  disconnect,
  endings,
  organization,
  person,
  reminderEmail,
  reminders,
} from "./account.tsx";
export { activity } from "./activity.tsx";
export { approvalPolicy, proposal } from "./approvals.tsx";
export { books } from "./books.tsx";
export { connecting, firstSteps } from "./first_steps.ts";
export { calendarCreated, calendarFeed, calendars } from "./calendar.tsx";
export { consent, consentRefusals } from "./consent.tsx";
export { currencies } from "./currencies.ts";
export { exportBooks, exportFiles, exportRefusals } from "./export.tsx";
export { datev, datevFiles } from "./datev.tsx";
export { changeAddress, confirmAddress } from "./address.tsx";
export { deleteAccount, deleteOrganization } from "./deletion.tsx";
export { frame } from "./frame.ts";
export { frontPage } from "./front_page.ts";
export { handOver, invitationPage, members, newOrganization, removal } from "./members.tsx";
export { inbound } from "./inbound.tsx";
export { onboarding } from "./onboarding.tsx";
export { policies } from "./policies.tsx";
export { plan } from "./plan.ts";
export { organizationState } from "./organization_state.tsx";
export { planPage } from "./plan_page.tsx";
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
export { confirm, login, review, sent, signInFailures } from "./sign_in.tsx";
export { unsubscribe } from "./unsubscribe.tsx";
export { documents } from "./documents.tsx";
export { upload, uploaded, uploadFailures, uploadRefusals } from "./uploads.tsx";
