/** Writes an invoice or credit note in UBL 2.1. */
import { type Invoice, SELLER, tag, TAX_ID } from "./invoice.ts";

const b = (name: string, content: string | undefined, attributes?: string) => tag(`cbc:${name}`, content, attributes);
const a = (name: string, ...content: string[]) => tag(`cac:${name}`, content);
const NAMESPACE = "urn:oasis:names:specification:ubl:schema:xsd:";
const XRECHNUNG = "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0";

export function writeUbl(invoice: Invoice): string {
  const { type = "380", currency = "EUR", lineCurrency = currency, totals, seller = SELLER, taxId = TAX_ID } = invoice;
  const isCredit = type === "381";
  const root = isCredit ? "CreditNote" : "Invoice";
  const money = (name: string, amount: string | undefined, of = currency) => b(name, amount, ` currencyID="${of}"`);
  const category = (name: string, { rate, category = "S" }: { rate: string; category?: string }) =>
    a(name, b("ID", category), category === "O" ? "" : b("Percent", rate), a("TaxScheme", b("ID", "VAT")));
  const adjustment = (isCharge: boolean, amount: string | undefined, tax = "") =>
    amount
      ? a(
        "AllowanceCharge",
        b("ChargeIndicator", `${isCharge}`),
        b("AllowanceChargeReason", "Agreed"),
        money("Amount", amount),
        tax,
      )
      : "";
  const country = (code: string) =>
    a(
      "PostalAddress",
      b("CityName", "Sampletown"),
      b("PostalZone", "10115"),
      a("Country", b("IdentificationCode", code)),
    );
  const taxTotal = a(
    "TaxTotal",
    money("TaxAmount", totals.tax),
    ...invoice.taxes.map((one) =>
      a("TaxSubtotal", money("TaxableAmount", one.net), money("TaxAmount", one.tax), category("TaxCategory", one))
    ),
  );
  const lines = invoice.lines.map((line, i) =>
    a(
      isCredit ? "CreditNoteLine" : "InvoiceLine",
      b("ID", `${i + 1}`),
      b(isCredit ? "CreditedQuantity" : "InvoicedQuantity", line.quantity ?? "1", ` unitCode="C62"`),
      money("LineExtensionAmount", line.net, lineCurrency),
      adjustment(false, line.allowance),
      adjustment(true, line.charge),
      a("Item", b("Name", `Item ${i + 1}`), category("ClassifiedTaxCategory", line)),
      a("Price", money("PriceAmount", line.price ?? line.net), b("BaseQuantity", line.per)),
    )
  );
  const [due] = invoice.due ?? [];
  return `<?xml version="1.0" encoding="UTF-8"?>\n` + tag(
    `${root} xmlns="${NAMESPACE}${root}-2" xmlns:cac="${NAMESPACE}CommonAggregateComponents-2"` +
      ` xmlns:cbc="${NAMESPACE}CommonBasicComponents-2"`,
    [
      b("CustomizationID", invoice.profile ?? XRECHNUNG),
      b("ProfileID", "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"),
      b("ID", invoice.number),
      b("IssueDate", invoice.issued),
      isCredit ? "" : b("DueDate", due),
      b(`${root}TypeCode`, type),
      b("DocumentCurrencyCode", currency),
      b("TaxCurrencyCode", invoice.declared?.currency),
      b("BuyerReference", "04011000-12345-34"),
      invoice.period ? a("InvoicePeriod", b("StartDate", invoice.period[0]), b("EndDate", invoice.period[1])) : "",
      a(
        "AccountingSupplierParty",
        a(
          "Party",
          b("EndpointID", "billing@example.com", ` schemeID="EM"`),
          a("PartyName", b("Name", "Example")),
          country("DE"),
          a("PartyTaxScheme", b("CompanyID", taxId), a("TaxScheme", b("ID", "VAT"))),
          a("PartyLegalEntity", b("RegistrationName", seller)),
          a(
            "Contact",
            b("Name", "Billing"),
            b("Telephone", "+49 30 000000"),
            b("ElectronicMail", "billing@example.com"),
          ),
        ),
      ),
      a(
        "AccountingCustomerParty",
        a(
          "Party",
          b("EndpointID", "buyer@example.org", ` schemeID="EM"`),
          a("PartyIdentification", b("ID", invoice.customer)),
          country("DE"),
          a("PartyLegalEntity", b("RegistrationName", "Sample Household")),
        ),
      ),
      invoice.paidTo ? a("PayeeParty", a("PartyName", b("Name", invoice.paidTo))) : "",
      a(
        "PaymentMeans",
        b("PaymentMeansCode", "58"),
        isCredit ? b("PaymentDueDate", due) : "",
        b("PaymentID", invoice.reference),
        invoice.iban ? a("PayeeFinancialAccount", b("ID", invoice.iban)) : "",
      ),
      ...(invoice.due ?? []).slice(1).map((day) => a("PaymentTerms", b("PaymentDueDate", day))),
      ...(invoice.allowances ?? []).map((one) => adjustment(false, one.amount, category("TaxCategory", one))),
      ...(invoice.charges ?? []).map((one) => adjustment(true, one.amount, category("TaxCategory", one))),
      taxTotal,
      invoice.declared ? a("TaxTotal", money("TaxAmount", invoice.declared.tax, invoice.declared.currency)) : "",
      a(
        "LegalMonetaryTotal",
        money("LineExtensionAmount", totals.lines ?? totals.net),
        money("TaxExclusiveAmount", totals.net),
        money("TaxInclusiveAmount", totals.gross),
        money("AllowanceTotalAmount", totals.allowances),
        money("ChargeTotalAmount", totals.charges),
        money("PrepaidAmount", totals.prepaid),
        money("PayableRoundingAmount", totals.rounding),
        money("PayableAmount", totals.payable),
      ),
      ...lines,
    ],
  );
}
