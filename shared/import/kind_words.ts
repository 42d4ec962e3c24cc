/** Words that mark the kind of a line in statements, as written or plain, in the languages of column_words.ts. */
import { CLOSING_WORDS, OPENING_WORDS } from "./balance_words.ts";
import type { Direction, Kind } from "./statement.ts";

/** A column is the direction if each of its cells is one of these. */
export const DIRECTION_WORDS: Record<Direction | "own_transfer" | "exchange" | "balance", string> = {
  out: "debit dr d dbit af soll s ausgabe ausgaben ausgang belastung lastschrift expense expenses expenditure " +
    "withdrawal outflow out debet depense gasto cargo uscita addebito uitgave despesa saida debito wydatek obciazenie " +
    "minus debet debetas ut ud uttag hævet utgift udgift meno otto výdaj výdej odepsáno terhelés kiadás " +
    "t plată ieșire isplata rashod trošak duguje odliv расход списание дебет витрата списання разход дт χρέωση χ borç " +
    "gider deebet makse izdevumi chi ra keluar pengeluaran db 支出 支付 出金 借 借方 출금 지급 지출 차변 מדין חובה",
  in: "credit cr c crdt bij haben h einnahme einnahmen eingang gutschrift income deposit inflow in revenu recette " +
    "ingreso abono entrata accredito inkomsten receita entrada credito przychod uznanie wplyw plus " +
    "k kredit kreditas ind inn inntekt indtægt inkomst insättning innskudd tulo pano příjem vklad připsáno jóváírás " +
    "bevétel j încasare intrare uplata prihod potražuje priliv приход зачисление поступление кредит надходження кт " +
    "зарахування πίστωση π alacak gelir kreedit ieņēmumi thu vào masuk pemasukan 收入 入金 贷 贷方 貸方 입금 수입 대변 זכות",
  own_transfer:
    "不计收支 中性交易 transfer umbuchung umbuchungen transfert transferencia trasferimento overboeking transferencia",
  exchange: "neutral",
  balance: "reconciliation",
};

export const DIRECTION_PHRASES: Record<string, Direction> = {
  ...{ purchase: "out", purchases: "out", sale: "out", kauf: "out", achat: "out", compra: "out", acquisto: "out" },
  ...{
    refund: "in",
    return: "in",
    deposit: "in",
    erstattung: "in",
    remboursement: "in",
    reembolso: "in",
    rimborso: "in",
  },
  ...{ "money out": "out", "paid out": "out", "cash out": "out", "zu lasten": "out", "ut fra konto": "out" },
  ...{ "money in": "in", "paid in": "in", "cash in": "in", "zu gunsten": "in", "inn på konto": "in" },
};

/** Values of a state column; any other value in a known export is a problem with its row. */
export const STATE_WORDS: Record<"pending" | "reverted" | "declined" | "expense", string[]> = {
  pending: [
    ...["pending", "pend", "on hold", "hold", "held", "authorised", "authorized", "processing", "in progress"],
    ...["umsatz vorgemerkt", "vorgemerkt", "ausstehend", "offen", "in bearbeitung", "en attente", "en cours"],
    ...["pendiente", "retenido", "in attesa", "in sospeso", "in behandeling", "gereserveerd", "pendente"],
    ...["oczekujaca", "oczekujące", "w toku", "blokada", "temporary hold", "pdng", "unposted", "not posted"],
    ...["reservert", "venter", "reserveret", "afventer", "reserverad", "reserverat", "väntar", "preliminär", "varattu"],
    ...["odottaa", "čeká na zpracování", "čekající", "čaká na spracovanie", "čakajúca", "nezaúčtováno", "függőben"],
    ...["függő", "zárolt", "foglalás", "în așteptare", "în curs de procesare", "na čekanju", "u obradi", "rezervirano"],
    ...["v obdelavi", "rezervirano", "ожидание", "в обработке", "ожидает", "очікує", "в обробці", "изчакваща"],
    ...["εκκρεμεί", "σε εκκρεμότητα", "beklemede", "bekliyor", "provizyon", "ootel", "broneeritud", "laukiama"],
    ...["rezervuota", "gaida", "rezervēts", "đang chờ", "đang xử lý", "chờ xử lý", "menunggu", "tertunda", "処理中"],
    ...["保留中", "未確定", "待处理", "处理中", "待入账", "대기", "처리중", "승인대기", "รอดำเนินการ", "معلق", "ממתין"],
  ],
  reverted: [
    ...[
      "reverted",
      "rvsl",
      "canc",
      "reversed",
      "voided",
      "cancelled",
      "canceled",
      "storniert",
      "annule",
      "annulee",
      "cancelado",
    ],
    ...["cancelada", "anulado", "annullato", "stornato", "geannuleerd", "teruggedraaid", "anulowana", "anulowano"],
    ...["revertida", "revertido", "estornado", "estornada", "annullata", "stornata", "kansellert", "reversert"],
    ...["annulleret", "tilbageført", "annullerad", "återförd", "makulerad", "peruttu", "peruutettu", "stornováno"],
    ...["zrušeno", "zrušená", "stornovaná", "stornovano", "sztornózva", "visszavonva", "törölve", "anulat", "anulată"],
    ...[
      "stornat",
      "poništeno",
      "otkazano",
      "storno",
      "preklicano",
      "отменен",
      "отменена",
      "отменено",
      "возврат отменен",
    ],
    ...["скасовано", "анулирана", "сторнирана", "ακυρώθηκε", "ακυρωμένη", "iptal", "iptal edildi", "tühistatud"],
    ...[
      "atšaukta",
      "atcelts",
      "đã hủy",
      "hoàn tác",
      "dibatalkan",
      "取消",
      "取消済",
      "已取消",
      "已撤销",
      "已冲正",
      "취소",
    ],
    ...["취소됨", "승인취소", "ยกเลิก", "ملغى", "בוטל"],
  ],
  declined: [
    ...[
      "declined",
      "rej",
      "rjct",
      "decl",
      "dcl",
      "failed",
      "denied",
      "rejected",
      "expired",
      "abgelehnt",
      "fehlgeschlagen",
      "refuse",
      "refusee",
    ],
    ...["echoue", "rechazado", "rechazada", "rifiutato", "geweigerd", "mislukt", "recusado", "recusada", "odrzucona"],
    ...["fallida", "fallido", "denegada", "denegado", "échouée", "échec", "refusé", "rejeté", "rejetée", "negado"],
    ...["falhou", "rejeitada", "rejeitado", "respinto", "respinta", "negato", "fallito", "odrzucono", "odrzucony"],
    ...["nieudana", "unsuccessful", "not authorised", "not authorized", "nicht ausgeführt", "afgewezen", "avvist"],
    ...["mislyktes", "afvist", "mislykkedes", "avvisad", "nekad", "misslyckad", "misslyckades", "hylätty"],
    ...["epäonnistui", "zamítnuto", "zamítnutá", "neúspěšná", "odmítnuto", "zamietnutá", "neúspešná", "elutasítva"],
    ...["elutasított", "sikertelen", "respins", "respinsă", "eșuat", "eșuată", "refuzat", "odbijeno", "odbijena"],
    ...["neuspjelo", "neuspešno", "zavrnjeno", "отклонен", "отклонена", "отклонено", "неуспешно", "неуспешна"],
    ...["ошибка", "відхилено", "невдала", "отхвърлена", "απορρίφθηκε", "αποτυχία", "reddedildi", "başarısız"],
    ...["tagasi lükatud", "ebaõnnestus", "atmesta", "nepavyko", "noraidīts", "thất bại", "bị từ chối", "gagal"],
    ...[
      "ditolak",
      "失敗",
      "拒否",
      "エラー",
      "失败",
      "交易失败",
      "已拒绝",
      "拒绝",
      "실패",
      "거절",
      "승인거절",
      "ล้มเหลว",
      "مرفوض",
    ],
    ...["נדחה", "סורב", "交易关闭", "已关闭", "支付失败"],
  ],
  expense: [
    ...["completed", "complete", "posted", "cleared", "settled", "booked", "success", "successful", "done", "book"],
    ...["gebucht", "umsatz gebucht", "abgeschlossen", "partially refunded", "refunded", "reconciled", "not cleared"],
    ...["uncleared", "termine", "effectue", "completado", "completato", "voltooid", "concluido", "zrealizowana"],
    ...["zakonczona", "aktiv", "paid", "bezahlt", "returned", "teilweise zuruckgezahlt", "zuruckgezahlt"],
    ...["completada", "finalizada", "ejecutada", "contabilizada", "terminée", "effectuée", "comptabilisé", "eseguito"],
    ...["contabilizzato", "concluída", "efetuada", "zaksięgowana", "zaksięgowano", "bokført", "gjennomført", "bogført"],
    ...["gennemført", "bokförd", "bokfört", "genomförd", "kirjattu", "toteutunut", "zaúčtováno", "provedeno"],
    ...["dokončeno", "zaúčtovaná", "vykonaná", "könyvelt", "teljesült", "sikeres", "finalizat", "finalizată"],
    ...["procesat", "izvršeno", "provedeno", "knjiženo", "izvedeno", "выполнен", "выполнена", "исполнено", "проведено"],
    ...["успешно", "виконано", "завършена", "ολοκληρώθηκε", "tamamlandı", "başarılı", "gerçekleşti", "täidetud"],
    ...["teostatud", "įvykdyta", "izpildīts", "thành công", "hoàn tất", "berhasil", "sukses", "完了", "確定", "成功"],
    ...["交易成功", "已完成", "支付成功", "已存入零钱", "已收钱", "완료", "정상", "승인", "สำเร็จ", "مكتمل", "בוצע"],
  ],
};

/** Word beginnings in a section's title that mark its rows as unbooked. */
export const UNBOOKED_TITLES = [
  ...["pending", "unposted", "not yet posted", "authorised", "authorized", "holds", "declined", "vorgemerkt"],
  ...["ausstehend", "noch nicht gebucht", "nicht gebucht", "en attente", "en cours", "opérations à venir", "pendiente"],
  ...["retenido", "in attesa", "non contabilizzat", "in behandeling", "gereserveerd", "pendente", "oczekując"],
  ...["blokad", "reserverad", "reservert", "reservered", "varaukset", "nezaúčtovan", "čekající", "függőben", "zárolt"],
  ...["în așteptare", "na čekanju", "rezervacij", "в обработке", "ожида", "очіку", "εκκρεμ", "bekleyen", "provizyon"],
  ...["未確定", "待入账", "승인대기", "รอดำเนินการ"],
];

/** Whole words or phrases of a line's text; `in` and `out` apply only to money in that direction. */
export const TEXT_WORDS: { kind: Kind; only?: Direction; words: string[] }[] = [
  {
    kind: "balance",
    words: [...OPENING_WORDS, ...CLOSING_WORDS],
  },
  {
    kind: "exchange",
    words: [
      ...["currency exchange", "currency conversion", "exchanged to", "wahrungsumrechnung", "devisentausch"],
      ...["conversion de devises", "cambio de divisas", "cambio valuta", "conversione di valuta", "valutawissel"],
      ...["conversao de moeda", "wymiana walut"],
    ],
  },
  {
    kind: "savings",
    words: [
      ...[
        "savings account",
        "to savings",
        "from savings",
        "savings transfer",
        "pot transfer",
        "to vault",
        "from vault",
      ],
      ...["to pocket", "from pocket", "pocket withdrawal", "sparkonto", "tagesgeldkonto", "oranje spaarrekening"],
      ...["spaarrekening", "livret a", "compte epargne", "cuenta de ahorro", "conto di risparmio", "conta poupanca"],
      ...["konto oszczednosciowe", "rachunek oszczednosciowy"],
    ],
  },
  {
    kind: "own_transfer",
    words: [
      ...["between own accounts", "between your own accounts", "own account transfer", "internal transfer"],
      ...["online transfer to chk", "online transfer from chk", "transfer to checking", "transfer from checking"],
      ...["umbuchung", "eigenubertrag", "virement interne", "virement entre mes comptes", "traspaso propio"],
      ...["traspaso entre cuentas", "giroconto", "tussen eigen rekeningen", "eigen rekening"],
      ...["transferencia entre contas proprias", "przelew wlasny", "przelew miedzy wlasnymi rachunkami"],
      // The balance of a closed account.
      ...["kontowechsel", "kontoumzug", "saldoubertrag", "account switch", "closing balance transfer"],
      ...["transfert de solde", "traspaso de saldo", "trasferimento saldo"],
    ],
  },
  {
    // A refund of taxes is income, because taxes on income are not spending.
    kind: "income",
    only: "in",
    words: [
      ...["tax refund", "irs treas", "hmrc", "finanzamt", "finanzkasse", "steuererstattung", "einkommensteuer"],
      ...["dgfip", "finances publiques", "agencia tributaria", "agenzia delle entrate", "belastingdienst"],
      ...["urzad skarbowy", "receita federal"],
    ],
  },
  {
    kind: "refund",
    only: "in",
    words: [
      ...["refund", "refunded", "reversal", "chargeback", "merchandise return", "erstattung"],
      ...[
        "ruckerstattung",
        "rueckerstattung",
        "retoure",
        "storno",
        "ruckzahlung",
        "rueckzahlung",
        "remboursement",
        "reembolso",
        "devolucion",
        "rimborso",
      ],
      ...["terugbetaling", "retour", "estorno", "zwrot"],
      ...["återköp", "återbetalning", "retur", "tilbakebetaling", "tilbagebetaling", "refusjon", "palautus", "hyvitys"],
      ...["vratka", "vrácení platby", "vrátenie", "visszatérítés", "rambursare", "povrat novca", "povraćaj", "vračilo"],
      ...["возврат", "повернення", "възстановяване", "επιστροφή", "iade", "tagastus", "grąžinimas", "atmaksa"],
      ...["hoàn tiền", "pengembalian dana", "返金", "退款", "환불", "คืนเงิน", "استرداد", "זיכוי"],
    ],
  },
  {
    kind: "card_payment",
    only: "in",
    words: [
      ...["payment thank you", "autopay payment", "payment received", "automatic payment", "autopay pymt"],
      ...["mobile payment", "online payment thank you", "online payment", "electronic payment", "direct debit payment"],
      ...["internet payment", "ach deposit internet transfer", "zahlung erhalten", "zahlungseingang kreditkarte"],
      ...["ausgleich kreditkarte", "einzahlung kreditkarte", "lastschrift kreditkarte", "paiement recu"],
      ...["prelevement recu", "pago recibido", "pagamento ricevuto", "betaling ontvangen", "pagamento recebido"],
      ...["splata karty"],
    ],
  },
  {
    kind: "card_payment",
    only: "out",
    words: [
      ...["credit card payment", "payment to chase card", "credit crd autopay", "credit crd epay", "crcardpmt"],
      ...[
        "american express ach pmt",
        "amex epayment",
        "applecard gsbank payment",
        "citi autopay",
        "discover e payment",
      ],
      ...["kreditkartenabrechnung", "kreditkarten abrechnung", "visa monatsabrechnung", "visa kartenabrechnung"],
      ...["mastercard abrechnung", "ausgleich kreditkarte", "paiement carte de credit", "liquidacion tarjeta"],
      ...["pago tarjeta de credito", "addebito carta di credito", "afrekening creditcard", "splata karty kredytowej"],
    ],
  },
  { kind: "top_up", only: "in", words: ["topped up account", "top up by", "bank deposit to pp account"] },
];

/** Words for earned money, which never occur in a list of expenses. */
export const INCOME_WORDS = [
  ...["salary", "payroll", "wages", "direct deposit", "interest paid", "dividend", "gehalt", "lohn", "bezuge"],
  ...["gehalt rente", "salaire", "nomina", "stipendio", "salaris", "salario", "wynagrodzenie", "pensja", "income"],
];
