/** The euro reference rates of the European Central Bank, as its daily XML file says them (about 16:00 CET on TARGET working days). */
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { MalformedRates, type RateSet, rateSet } from "./rate_set.ts";

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  // Digits stay as they are written; a number would pass through binary.
  parseAttributeValue: false,
  removeNSPrefix: true,
  // The file has no entities, and a document that defines some is not ours.
  processEntities: false,
});

/**
 * Reads `<gesmes:Envelope>…<Cube><Cube time='…'><Cube currency='…' rate='…'/>…`.
 * @throws {MalformedRates} for anything else, well-formed or not.
 */
export function parseEcb(xml: string): RateSet {
  if (XMLValidator.validate(xml) !== true) throw new MalformedRates("the answer is not XML");
  const day = parser.parse(xml)?.Envelope?.Cube?.Cube;
  const cubes: unknown = day?.Cube;
  if (!Array.isArray(cubes)) throw new MalformedRates("the answer has no rates");
  return rateSet("ecb", day["@time"], cubes.map((cube) => [cube["@currency"], cube["@rate"]]));
}
