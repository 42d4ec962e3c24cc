/** All mails in English. */
import { digest } from "./digest.ts";
import { handover, invitation } from "./invitation.ts";
import { reminderAddress } from "./reminder_address.ts";
import { signIn } from "./sign_in.ts";

export const mails = { digest, handover, invitation, reminderAddress, signIn };
