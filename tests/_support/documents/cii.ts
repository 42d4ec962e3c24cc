/** Writes an invoice as UN/CEFACT CII, and with the older names of ZUGFeRD 1. */
import { type Invoice, SELLER, tag, TAX_ID } from "./invoice.ts";

const r = (name: string, ...content: string[]) => tag(`ram:${name}`, content);
const t = (name: string, content: string | undefined, attributes?: string) => tag(`ram:${name}`, content, attributes);
const day = (name: string, value: string | undefined) =>
  value ? r(name, tag("udt:DateTimeString", value.replaceAll("-", ""), ` format="102"`)) : "";

export function writeCii(invoice: Invoice): string {
  const { type = "380", currency = "EUR", totals, seller = SELLER, taxId = TAX_ID, period } = invoice;
  const tax = (name: string, { rate, category = "S" }: { rate: string; category?: string }, ...amounts: string[]) =>
    r(
      name,
      amounts[0] ?? "",
      t("TypeCode", "VAT"),
      amounts[1] ?? "",
      t("CategoryCode", category),
      t("RateApplicablePercent", rate),
    );
  const adjustment = (isCharge: boolean, amount: string | undefined, tax = "") =>
    amount
      ? r(
        "SpecifiedTradeAllowanceCharge",
        r("ChargeIndicator", tag("udt:Indicator", `${isCharge}`)),
        t("ActualAmount", amount),
        t("Reason", "Agreed"),
        tax,
      )
      : "";
  const lines = invoice.lines.map((line, i) =>
    r(
      "IncludedSupplyChainTradeLineItem",
      r("AssociatedDocumentLineDocument", t("LineID", `${i + 1}`)),
      r("SpecifiedTradeProduct", t("Name", `Item ${i + 1}`)),
      r(
        "SpecifiedLineTradeAgreement",
        r(
          "NetPriceProductTradePrice",
          t("ChargeAmount", line.price ?? line.net),
          t("BasisQuantity", line.per, ` unitCode="C62"`),
        ),
      ),
      r("SpecifiedLineTradeDelivery", t("BilledQuantity", line.quantity ?? "1", ` unitCode="C62"`)),
      r(
        "SpecifiedLineTradeSettlement",
        tax("ApplicableTradeTax", line),
        adjustment(false, line.allowance),
        adjustment(true, line.charge),
        r("SpecifiedTradeSettlementLineMonetarySummation", t("LineTotalAmount", line.net)),
      ),
    )
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n` + tag(
    `rsm:CrossIndustryInvoice xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"` +
      ` xmlns:ram="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"` +
      ` xmlns:udt="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100"`,
    [
      tag("rsm:ExchangedDocumentContext", [
        r("GuidelineSpecifiedDocumentContextParameter", t("ID", invoice.profile ?? "urn:cen.eu:en16931:2017")),
      ]),
      tag("rsm:ExchangedDocument", [
        t("ID", invoice.number),
        t("TypeCode", type),
        day("IssueDateTime", invoice.issued),
      ]),
      tag("rsm:SupplyChainTradeTransaction", [
        ...lines,
        r(
          "ApplicableHeaderTradeAgreement",
          t("BuyerReference", "04011000-12345-34"),
          r(
            "SellerTradeParty",
            t("Name", seller),
            r("PostalTradeAddress", t("PostcodeCode", "10115"), t("CityName", "Sampletown"), t("CountryID", "DE")),
            r("SpecifiedTaxRegistration", t("ID", "201/123/40207", ` schemeID="FC"`)),
            r("SpecifiedTaxRegistration", t("ID", taxId, ` schemeID="VA"`)),
          ),
          r("BuyerTradeParty", t("ID", invoice.customer), t("Name", "Sample Household")),
        ),
        "<ram:ApplicableHeaderTradeDelivery/>",
        r(
          "ApplicableHeaderTradeSettlement",
          t("PaymentReference", invoice.reference),
          t("TaxCurrencyCode", invoice.declared?.currency),
          t("InvoiceCurrencyCode", currency),
          invoice.paidTo ? r("PayeeTradeParty", t("Name", invoice.paidTo)) : "",
          r(
            "SpecifiedTradeSettlementPaymentMeans",
            t("TypeCode", "58"),
            invoice.iban ? r("PayeePartyCreditorFinancialAccount", t("IBANID", invoice.iban)) : "",
          ),
          ...invoice.taxes.map((one) =>
            tax("ApplicableTradeTax", one, t("CalculatedAmount", one.tax), t("BasisAmount", one.net))
          ),
          period ? r("BillingSpecifiedPeriod", day("StartDateTime", period[0]), day("EndDateTime", period[1])) : "",
          ...(invoice.allowances ?? []).map((one) => adjustment(false, one.amount, tax("CategoryTradeTax", one))),
          ...(invoice.charges ?? []).map((one) => adjustment(true, one.amount, tax("CategoryTradeTax", one))),
          ...(invoice.due ?? []).map((one) => r("SpecifiedTradePaymentTerms", day("DueDateDateTime", one))),
          r(
            "SpecifiedTradeSettlementHeaderMonetarySummation",
            t("LineTotalAmount", totals.lines ?? totals.net),
            t("ChargeTotalAmount", totals.charges),
            t("AllowanceTotalAmount", totals.allowances),
            t("TaxBasisTotalAmount", totals.net),
            t("TaxTotalAmount", totals.tax, ` currencyID="${currency}"`),
            t("TaxTotalAmount", invoice.declared?.tax, ` currencyID="${invoice.declared?.currency}"`),
            t("RoundingAmount", totals.rounding),
            t("GrandTotalAmount", totals.gross),
            t("TotalPrepaidAmount", totals.prepaid),
            t("DuePayableAmount", totals.payable),
          ),
        ),
      ]),
    ],
  );
}

const OLDER: [string, string][] = [
  ["rsm:CrossIndustryInvoice", "rsm:CrossIndustryDocument"],
  ["rsm:ExchangedDocumentContext", "rsm:SpecifiedExchangedDocumentContext"],
  ["rsm:ExchangedDocument>", "rsm:HeaderExchangedDocument>"],
  ["rsm:SupplyChainTradeTransaction", "rsm:SpecifiedSupplyChainTradeTransaction"],
  ["ram:ApplicableHeaderTrade", "ram:ApplicableSupplyChainTrade"],
  ["ram:SpecifiedLineTrade", "ram:SpecifiedSupplyChainTrade"],
  ["ram:SpecifiedTradeSettlementLineMonetary", "ram:SpecifiedTradeSettlementMonetary"],
  ["ram:SpecifiedTradeSettlementHeaderMonetary", "ram:SpecifiedTradeSettlementMonetary"],
  ["ram:RateApplicablePercent", "ram:ApplicablePercent"],
];

/** ZUGFeRD 1.0. */
export const writeZugferd1 = (invoice: Invoice): string =>
  OLDER.reduce(
    (text, [name, older]) => text.replaceAll(`<${name}`, `<${older}`).replaceAll(`</${name}`, `</${older}`),
    writeCii({ ...invoice, profile: "urn:ferd:CrossIndustryDocument:invoice:1p0:comfort" }),
  );
