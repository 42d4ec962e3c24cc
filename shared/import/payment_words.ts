/** Words for card payments and for institutions where people have accounts, as written or plain. */

/** Texts with which a bank confirms a received payment, on either side of a list. */
export const RECEIVED_WORDS = [
  ...["payment received", "payment thank you", "payment thank", "autopay thank you", "thank you for your payment"],
  ...["payment recd", "online payment thank you", "zahlung erhalten", "gutschrift lastschrift"],
  ...["danke für ihre zahlung", "zahlungseingang", "zahlung dankend erhalten", "paiement reçu", "prélèvement reçu"],
  ...["merci de votre paiement", "paiement merci", "règlement reçu", "pago recibido", "gracias por su pago"],
  ...["su pago gracias", "pago con tarjeta gracias", "pagamento ricevuto", "betaling ontvangen", "pagamento recebido"],
  ...["obrigado pelo pagamento", "betaling mottatt", "takk for betalingen", "indbetaling modtaget"],
  ...["tak for din betaling", "inbetalning mottagen", "tack för din betalning", "maksu vastaanotettu"],
  ...["kiitos maksusta", "platba přijata", "přijatá platba", "platba prijatá", "fizetés köszönjük"],
  ...["köszönjük befizetését", "plată primită", "plata primita", "uplata primljena", "primljena uplata"],
  ...["plačilo prejeto", "prejeto plačilo", "платеж получен", "платіж отримано", "πληρωμή ευχαριστούμε"],
  ...["ödemeniz için teşekkürler", "ödeme teşekkür ederiz", "makse saadud", "gautas mokėjimas", "maksājums saņemts"],
  ...["pembayaran terima kasih", "ชำระเงิน ขอบคุณ", "תשלום התקבל"],
];

/** Texts of a received payment in a card's list. In an account's list, some of them mean an outgoing payment. */
export const PAYMENT_WORDS = [
  ...RECEIVED_WORDS,
  ...["autopay payment", "autopay pymt", "autopay", "direct debit payment", "payment by direct debit"],
  ...["credit card payment", "payment from bank", "ihre zahlung", "lastschrifteinzug", "einzug rechnungsbetrag"],
  ...["ausgleich kreditkarte", "votre paiement", "su pago", "pago de tarjeta", "abono por pago"],
  ...["pagamento estratto conto", "addebito in conto corrente", "vostro pagamento", "uw betaling"],
  ...["incasso creditcard", "pagamento efetuado", "pagamento de fatura", "spłata karty", "spłata zadłużenia"],
  ...["wpłata własna", "innbetaling", "indbetaling", "inbetalning", "suorituksenne", "splátka karty", "befizetés"],
  ...["alimentare card", "погашение задолженности", "погашення заборгованості", "погасяване", "η πληρωμή σας"],
  ...["hesaptan ödeme", "otomatik ödeme", "thanh toán thẻ", "thanh toán dư nợ", "口座振替", "お支払い 口座振替"],
  ...[
    "お支払い",
    "自动还款",
    "信用卡还款",
    "还款",
    "自動繳款",
    "繳款",
    "카드대금",
    "결제대금",
    "자동이체결제",
    "سداد البطاقة",
  ],
];

/** Words for any payment. Among a card's credits, they mean the payment of its bill. */
export const ANY_PAYMENT_WORDS = [
  ...["payment", "pymt", "pmt", "zahlung", "paiement", "pago", "pagamento", "betaling", "betalning", "betalt", "maksu"],
  ...["płatność", "wpłata", "platba", "fizetés", "plata", "uplata", "plačilo", "платеж", "оплата", "платіж", "плащане"],
  ...["πληρωμή", "ödeme", "makse", "mokėjimas", "maksājums", "pembayaran", "bayaran", "入金", "还款", "납부", "입금"],
];

/**
 * Recipients of payments to the person's own card, account or depot. None is a shop, so the import asks about rows that
 * pay one of them.
 */
export const OWN_ACCOUNT_WORDS = [
  ...["american express", "amex", "axp", "barclaycard", "barclays", "advanzia", "gebuhrfrei mastercard", "diners club"],
  ...["capital one", "chase card", "chase credit", "citi card", "discover card", "synchrony bank", "hanseatic bank"],
  ...["viseca", "swisscard", "cembra", "international card services", "ics cards", "visa abrechnung"],
  ...["mastercard abrechnung", "kreditkarte abrechnung", "kreditkartenabrechnung", "credit card bill"],
  ...["card settlement", "revolut", "wise", "trade republic", "scalable capital", "vivid money", "bunq", "monzo"],
  ...["etoro", "degiro", "interactive brokers"],
];
