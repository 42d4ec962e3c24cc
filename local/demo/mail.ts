/** Forwards an e-invoice to the organization's own address, and reports the outcome. */
import nodemailer from "nodemailer";
import { findForm, type FormBrowser } from "../form_browser.ts";
import type { RunningStack } from "../running_stack.ts";
import type { Envelope } from "./conversation.ts";
import { day, money } from "./wording.ts";

interface Asked {
  /** A browser that is signed in as the person. */
  browser: FormBrowser;
  person: { email: string; organizationId: string };
  /** Calls a tool of the assistant. */
  call(tool: string, args: Record<string, unknown>): Promise<Envelope>;
}

const PAYEE = "Stadtwerke";

/** @returns a line, or undefined if the stack receives no mail or the books have no bill of that payee. */
export async function forwardInvoice(
  stack: Pick<RunningStack, "smtp_url" | "supabase_url" | "cron_secret">,
  { browser, person, call }: Asked,
): Promise<string | undefined> {
  if (!stack.smtp_url) return undefined;
  const { data } = await call("list_bills", { query: PAYEE });
  const [bill] = data?.bills ?? [];
  const due = bill?.overdue[0]?.due_on ?? bill?.next_due;
  if (!due) return undefined;
  const address = await addressOf(browser, person.organizationId);
  const number = `SW-${due}`;
  const name = `${number}.xml`;
  const transport = nodemailer.createTransport(stack.smtp_url);
  await transport.sendMail({
    from: person.email,
    to: address,
    subject: `Fwd: Your invoice ${number}`,
    text: "See the attached invoice.",
    attachments: [{ filename: name, content: invoice({ number, due }), contentType: "application/xml" }],
  });
  transport.close();
  // The schedule does the same within a minute.
  const read = await fetch(`${stack.supabase_url}/api/cron/reminders?only=inbound`, {
    headers: { authorization: `Bearer ${stack.cron_secret}` },
  });
  await read.body?.cancel();
  const { data: found } = await call("list_documents", { query: number });
  const document = found?.documents.find((one: Envelope) => one.name === name);
  return `${person.email} forwards ${name} to ${address}\n  ${
    document ? tell(document) : "it waits to be read, which takes up to a minute"
  }`;
}

/** Creates the address in the first run. */
async function addressOf(browser: FormBrowser, organizationId: string): Promise<string> {
  const path = `/organizations/${organizationId}/mail`;
  const find = ({ html }: { html: string }) => /in\+[0-9a-z]+@[\w.-]+/.exec(html)?.[0];
  const page = await browser.open(path);
  const known = find(page);
  if (known) return known;
  const form = findForm(page, ({ fields }) => fields.action === "rotate");
  return find(await browser.submit(page, form)) ?? Promise.reject(new Error(`${path} shows no address`));
}

function tell({ read, filed }: Envelope): string {
  const { payee, gross: amount, currency } = read;
  const about = `it was read as an invoice of ${payee} for ${money({ amount, currency })}`;
  return filed
    ? `${about} and attached to ${filed.name}${filed.due_on ? `, due on ${day(filed.due_on)}` : ""}`
    : `${about} and asks on the page of the books what it belongs to`;
}

/** A small invoice in UBL. */
function invoice({ number, due }: { number: string; due: string }): string {
  const eur = (name: string, amount: string) => `<cbc:${name} currencyID="EUR">${amount}</cbc:${name}>`;
  const category = (name: string) =>
    `<cac:${name}><cbc:ID>S</cbc:ID><cbc:Percent>19</cbc:Percent><cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:${name}>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
  xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"
  xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
  <cbc:CustomizationID>urn:cen.eu:en16931:2017</cbc:CustomizationID>
  <cbc:ID>${number}</cbc:ID><cbc:IssueDate>${due}</cbc:IssueDate><cbc:DueDate>${due}</cbc:DueDate>
  <cbc:InvoiceTypeCode>380</cbc:InvoiceTypeCode><cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
  <cac:AccountingSupplierParty><cac:Party><cac:PartyLegalEntity>
    <cbc:RegistrationName>${PAYEE}</cbc:RegistrationName>
  </cac:PartyLegalEntity></cac:Party></cac:AccountingSupplierParty>
  <cac:TaxTotal>${eur("TaxAmount", "13.57")}<cac:TaxSubtotal>
    ${eur("TaxableAmount", "71.43")}${eur("TaxAmount", "13.57")}${category("TaxCategory")}
  </cac:TaxSubtotal></cac:TaxTotal>
  <cac:LegalMonetaryTotal>
    ${eur("LineExtensionAmount", "71.43")}${eur("TaxExclusiveAmount", "71.43")}
    ${eur("TaxInclusiveAmount", "85.00")}${eur("PayableAmount", "85.00")}
  </cac:LegalMonetaryTotal>
  <cac:InvoiceLine><cbc:ID>1</cbc:ID><cbc:InvoicedQuantity unitCode="C62">1</cbc:InvoicedQuantity>
    ${eur("LineExtensionAmount", "71.43")}
    <cac:Item><cbc:Name>Electricity</cbc:Name>${category("ClassifiedTaxCategory")}</cac:Item>
    <cac:Price>${eur("PriceAmount", "71.43")}</cac:Price>
  </cac:InvoiceLine>
</Invoice>
`;
}
