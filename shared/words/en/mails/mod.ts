/** All mails in English. */
import { deletion } from "./deletion.ts";
import { digest } from "./digest.ts";
import { handover, invitation } from "./invitation.ts";
import { proposal } from "./proposal.ts";
import { removal } from "./removal.ts";
import { reminderAddress } from "./reminder_address.ts";
import { signIn } from "./sign_in.ts";
import { testMail } from "./test_mail.ts";

export const mails = { deletion, digest, handover, invitation, proposal, removal, reminderAddress, signIn, testMail };
