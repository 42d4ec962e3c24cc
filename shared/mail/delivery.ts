/** The interface of mail transports, and the outcomes they report. */

export interface OutgoingMail {
  /** The caller's id for the mail. */
  id: string;
  to: string;
  subject: string;
  text?: string;
  html?: string;
  messageId?: string;
  headers: Readonly<Record<string, string>>;
}

/**
 * `sent`: accepted. `dead`: permanently rejected. `held`: certainly not accepted; may be retried in any batch.
 * `unsure`: unknown; must be retried with the same key in the same batch.
 */
export type Outcome = "sent" | "dead" | "held" | "unsure";

export interface MailResult {
  id: string;
  outcome: Outcome;
  code?: string;
  /** The address is invalid, so the service must not mail it again. */
  refused?: boolean;
  /** Retry it alone, because the service did not accept some mail in the batch. */
  alone?: boolean;
}

export interface Delivery {
  /** One per mail that `onSettled` has not reported. */
  results: MailResult[];
  /** The service requests a pause or accepts no mail, so wait at least this long before sending the others. */
  pause?: { code: string; ms: number };
}

export interface Sending {
  /** Equal for all attempts with the same mails in the same order. At most 256 characters. */
  key: string;
  timeoutMs: number;
  /** Called for each mail as soon as its outcome is known, by transports that send one at a time. */
  onSettled(result: MailResult): Promise<void>;
}

export interface MailTransport {
  /** The number of mails per batch. */
  batchSize: number;
  /** Never throws for a failure of the mail service. */
  deliver(mails: readonly OutgoingMail[], sending: Sending): Promise<Delivery>;
  close(): void;
}
