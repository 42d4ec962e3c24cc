/** Writes an invoice as FatturaPA 1.2. */
import { type Invoice, SELLER, tag } from "./invoice.ts";

const e = (name: string, ...content: string[]) => tag(name, content);
const NATURE: Record<string, string> = { S: "", E: "N4", AE: "N6.9", O: "N2.2" };

export function writeFattura(invoice: Invoice): string {
  const { type = "TD01", currency = "EUR", totals, payments, bodies = 1 } = invoice;
  const rate = (one: { rate: string; category?: string }) =>
    tag("AliquotaIVA", Number(one.rate).toFixed(2)) + tag("Natura", NATURE[one.category ?? "S"]);
  const body = e(
    "FatturaElettronicaBody",
    e(
      "DatiGenerali",
      e(
        "DatiGeneraliDocumento",
        tag("TipoDocumento", type),
        tag("Divisa", currency),
        tag("Data", invoice.issued),
        tag("Numero", invoice.number),
        invoice.withheld
          ? e("DatiRitenuta", tag("TipoRitenuta", "RT01"), tag("ImportoRitenuta", invoice.withheld))
          : "",
        invoice.fund
          ? e(
            "DatiCassaPrevidenziale",
            tag("TipoCassa", "TC01"),
            tag("ImportoContributoCassa", invoice.fund.amount),
            rate(invoice.fund),
          )
          : "",
        tag("ImportoTotaleDocumento", totals.gross),
        tag("Arrotondamento", totals.rounding),
      ),
    ),
    e(
      "DatiBeniServizi",
      ...invoice.lines.map((line, i) =>
        e(
          "DettaglioLinee",
          tag("NumeroLinea", `${i + 1}`),
          tag("Descrizione", `Voce ${i + 1}`),
          tag("Quantita", line.quantity ?? "1.00"),
          tag("DataInizioPeriodo", line.period?.[0]),
          tag("DataFinePeriodo", line.period?.[1]),
          tag("PrezzoUnitario", line.price ?? line.net),
          line.allowance ? e("ScontoMaggiorazione", tag("Tipo", "SC"), tag("Importo", line.allowance)) : "",
          tag("PrezzoTotale", line.net),
          rate(line),
        )
      ),
      ...invoice.taxes.map((one) =>
        e(
          "DatiRiepilogo",
          rate(one),
          tag("ImponibileImporto", one.net),
          tag("Imposta", one.tax),
          tag("EsigibilitaIVA", invoice.isSplit ? "S" : "I"),
        )
      ),
    ),
    payments
      ? e(
        "DatiPagamento",
        tag("CondizioniPagamento", payments.length > 1 ? "TP01" : "TP02"),
        ...payments.map(([due, amount]) =>
          e(
            "DettaglioPagamento",
            tag("ModalitaPagamento", "MP05"),
            tag("DataScadenzaPagamento", due),
            tag("ImportoPagamento", amount),
            tag("IBAN", invoice.iban),
          )
        ),
      )
      : "",
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n` + tag(
    `p:FatturaElettronica versione="FPR12" xmlns:p="http://ivaservizi.agenziaentrate.gov.it/docs/xsd/fatture/v1.2"`,
    [
      e(
        "FatturaElettronicaHeader",
        e("DatiTrasmissione", tag("ProgressivoInvio", "00001"), tag("FormatoTrasmissione", "FPR12")),
        e(
          "CedentePrestatore",
          e(
            "DatiAnagrafici",
            e("IdFiscaleIVA", tag("IdPaese", "IT"), tag("IdCodice", "01234567897")),
            e("Anagrafica", tag("Denominazione", invoice.seller ?? SELLER)),
          ),
        ),
      ),
      body.repeat(bodies),
    ],
  );
}
