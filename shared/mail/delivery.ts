/** Sending many mails: what a transport takes, and what it can know of each mail afterwards. */

export interface OutgoingMail {
  /** The caller's own name of the mail. */
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  messageId: string;
  headers: Readonly<Record<string, string>>;
}

/**
 * `sent`: taken over. `dead`: refused for good. `held`: surely not taken, may be tried again in any company. `unsure`: nobody knows; to be
 * sent again with the same key in the same company.
 */
export type Outcome = "sent" | "dead" | "held" | "unsure";

export interface MailResult {
  id: string;
  outcome: Outcome;
  code?: string;
  /** The address is no good: nothing should be sent there any more. */
  refused?: boolean;
  /** It should be tried without company: something among the others, or in it, was not taken. */
  alone?: boolean;
}

export interface Delivery {
  /** One of each mail that `onSettled` was not told of. */
  results: MailResult[];
  /** The service asks for a pause, or can take nothing at all: what is left should wait at least so long. */
  pause?: { code: string; ms: number };
}

export interface Sending {
  /** The same for the same mails in the same order, whenever they are sent. At most 256 characters. */
  key: string;
  timeoutMs: number;
  /** Told of single mails as soon as their fate is known, by transports that send one after the other. */
  onSettled(result: MailResult): Promise<void>;
}

export interface MailTransport {
  /** How many mails to hand over at once. */
  batchSize: number;
  /** Never throws for what a mail service does. */
  deliver(mails: readonly OutgoingMail[], sending: Sending): Promise<Delivery>;
  close(): void;
}
