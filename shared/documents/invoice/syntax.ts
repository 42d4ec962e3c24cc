/**
 * The places of an invoice's facts in the two syntaxes of EN 16931, as paths of elements. Alternatives are separated by
 * "|", because names differ between versions.
 */
export interface Syntax {
  format: "ubl" | "cii";
  /** The root of all other paths. */
  root: string;
  /** Elements that have other names in older versions. */
  renamed?: ReadonlyMap<string, string>;
  lines: string[];
  /** The guideline or profile, and the profiles that have no lines. */
  profile: string;
  lineless?: RegExp;
  currency: string;
  number: string;
  type: string;
  issued: string;
  due: string[];
  period: { from: string; to: string };
  seller: string;
  names: string[];
  taxIds: string;
  customer: string;
  /** The payee, if it is not the seller. */
  paidTo: string;
  ibans: string;
  references: string;
  totals: Record<"lines" | "allowances" | "charges" | "net" | "gross" | "prepaid" | "rounding" | "payable", string>;
  /** The total of tax, perhaps in two currencies. */
  tax: string;
  taxes: { at: string; category: string; rate: string; net: string; tax: string };
  /** Allowances and charges, on the invoice and on a line. */
  adjustments: { at: string; isCharge: string; amount: string; category: string; rate: string };
  line: {
    net: string;
    category: string;
    rate: string;
    quantity: string;
    price: string;
    per: string;
    adjustments: string;
  };
}

/** OASIS UBL 2.1, also as XRechnung and Peppol BIS Billing 3. */
export const UBL: Syntax = {
  format: "ubl",
  root: "Invoice|CreditNote",
  lines: ["InvoiceLine", "CreditNoteLine"],
  profile: "CustomizationID",
  currency: "DocumentCurrencyCode",
  number: "ID",
  type: "InvoiceTypeCode|CreditNoteTypeCode",
  issued: "IssueDate",
  due: ["DueDate", "PaymentMeans/PaymentDueDate", "PaymentTerms/PaymentDueDate"],
  period: { from: "InvoicePeriod/StartDate", to: "InvoicePeriod/EndDate" },
  seller: "AccountingSupplierParty/Party",
  names: ["PartyLegalEntity/RegistrationName", "PartyName/Name"],
  taxIds: "PartyTaxScheme/CompanyID",
  customer: "AccountingCustomerParty/Party/PartyIdentification/ID",
  paidTo: "PayeeParty/PartyName/Name",
  ibans: "PaymentMeans/PayeeFinancialAccount/ID",
  references: "PaymentMeans/PaymentID",
  totals: {
    lines: "LegalMonetaryTotal/LineExtensionAmount",
    allowances: "LegalMonetaryTotal/AllowanceTotalAmount",
    charges: "LegalMonetaryTotal/ChargeTotalAmount",
    net: "LegalMonetaryTotal/TaxExclusiveAmount",
    gross: "LegalMonetaryTotal/TaxInclusiveAmount",
    prepaid: "LegalMonetaryTotal/PrepaidAmount",
    rounding: "LegalMonetaryTotal/PayableRoundingAmount",
    payable: "LegalMonetaryTotal/PayableAmount",
  },
  tax: "TaxTotal/TaxAmount",
  taxes: {
    at: "TaxTotal/TaxSubtotal",
    category: "TaxCategory/ID",
    rate: "TaxCategory/Percent",
    net: "TaxableAmount",
    tax: "TaxAmount",
  },
  adjustments: {
    at: "AllowanceCharge",
    isCharge: "ChargeIndicator",
    amount: "Amount",
    category: "TaxCategory/ID",
    rate: "TaxCategory/Percent",
  },
  line: {
    net: "LineExtensionAmount",
    category: "Item/ClassifiedTaxCategory/ID",
    rate: "Item/ClassifiedTaxCategory/Percent",
    quantity: "InvoicedQuantity|CreditedQuantity",
    price: "Price/PriceAmount",
    per: "Price/BaseQuantity",
    adjustments: "AllowanceCharge",
  },
};

const SETTLEMENT = "SupplyChainTradeTransaction/ApplicableHeaderTradeSettlement";
const SUMMATION = "SpecifiedTradeSettlementMonetarySummation";
const TOTALS = `${SETTLEMENT}/SpecifiedTradeSettlementHeaderMonetarySummation|${SUMMATION}`;
const AGREEMENT = "SupplyChainTradeTransaction/ApplicableHeaderTradeAgreement";

/** The element names of CII in ZUGFeRD 1. */
const ZUGFERD_1 = {
  CrossIndustryDocument: "CrossIndustryInvoice",
  SpecifiedExchangedDocumentContext: "ExchangedDocumentContext",
  HeaderExchangedDocument: "ExchangedDocument",
  SpecifiedSupplyChainTradeTransaction: "SupplyChainTradeTransaction",
  ApplicableSupplyChainTradeAgreement: "ApplicableHeaderTradeAgreement",
  ApplicableSupplyChainTradeSettlement: "ApplicableHeaderTradeSettlement",
  SpecifiedSupplyChainTradeAgreement: "SpecifiedLineTradeAgreement",
  SpecifiedSupplyChainTradeDelivery: "SpecifiedLineTradeDelivery",
  SpecifiedSupplyChainTradeSettlement: "SpecifiedLineTradeSettlement",
  ApplicablePercent: "RateApplicablePercent",
};

/** UN/CEFACT Cross Industry Invoice, also as XRechnung, Factur-X and ZUGFeRD 2. */
export const CII: Syntax = {
  format: "cii",
  root: "CrossIndustryInvoice",
  renamed: new Map(Object.entries(ZUGFERD_1)),
  lines: ["IncludedSupplyChainTradeLineItem"],
  profile: "ExchangedDocumentContext/GuidelineSpecifiedDocumentContextParameter/ID",
  lineless: /[:#](minimum|basicwl)$/,
  currency: `${SETTLEMENT}/InvoiceCurrencyCode`,
  number: "ExchangedDocument/ID",
  type: "ExchangedDocument/TypeCode",
  issued: "ExchangedDocument/IssueDateTime/DateTimeString",
  due: [`${SETTLEMENT}/SpecifiedTradePaymentTerms/DueDateDateTime/DateTimeString`],
  period: {
    from: `${SETTLEMENT}/BillingSpecifiedPeriod/StartDateTime/DateTimeString`,
    to: `${SETTLEMENT}/BillingSpecifiedPeriod/EndDateTime/DateTimeString`,
  },
  seller: `${AGREEMENT}/SellerTradeParty`,
  names: ["Name"],
  taxIds: "SpecifiedTaxRegistration/ID",
  customer: `${AGREEMENT}/BuyerTradeParty/ID`,
  paidTo: `${SETTLEMENT}/PayeeTradeParty/Name`,
  ibans: `${SETTLEMENT}/SpecifiedTradeSettlementPaymentMeans/PayeePartyCreditorFinancialAccount/IBANID|ProprietaryID`,
  references: `${SETTLEMENT}/PaymentReference`,
  totals: {
    lines: `${TOTALS}/LineTotalAmount`,
    allowances: `${TOTALS}/AllowanceTotalAmount`,
    charges: `${TOTALS}/ChargeTotalAmount`,
    net: `${TOTALS}/TaxBasisTotalAmount`,
    gross: `${TOTALS}/GrandTotalAmount`,
    prepaid: `${TOTALS}/TotalPrepaidAmount`,
    rounding: `${TOTALS}/RoundingAmount`,
    payable: `${TOTALS}/DuePayableAmount`,
  },
  tax: `${TOTALS}/TaxTotalAmount`,
  taxes: {
    at: `${SETTLEMENT}/ApplicableTradeTax`,
    category: "CategoryCode",
    rate: "RateApplicablePercent",
    net: "BasisAmount",
    tax: "CalculatedAmount",
  },
  adjustments: {
    at: `${SETTLEMENT}/SpecifiedTradeAllowanceCharge|SpecifiedLogisticsServiceCharge`,
    isCharge: "ChargeIndicator/Indicator",
    amount: "ActualAmount|AppliedAmount",
    category: "CategoryTradeTax|AppliedTradeTax/CategoryCode",
    rate: "CategoryTradeTax|AppliedTradeTax/RateApplicablePercent",
  },
  line: {
    net: `SpecifiedLineTradeSettlement/SpecifiedTradeSettlementLineMonetarySummation|${SUMMATION}/LineTotalAmount`,
    category: "SpecifiedLineTradeSettlement/ApplicableTradeTax/CategoryCode",
    rate: "SpecifiedLineTradeSettlement/ApplicableTradeTax/RateApplicablePercent",
    quantity: "SpecifiedLineTradeDelivery/BilledQuantity",
    price: "SpecifiedLineTradeAgreement/NetPriceProductTradePrice/ChargeAmount",
    per: "SpecifiedLineTradeAgreement/NetPriceProductTradePrice/BasisQuantity",
    adjustments: "SpecifiedLineTradeSettlement/SpecifiedTradeAllowanceCharge",
  },
};
