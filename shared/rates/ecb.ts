/**
 * Parses the euro reference rates of the European Central Bank, a daily XML file (about 16:00 CET on TARGET working
 * days).
 */
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { MalformedRates, type RateSet, rateSet } from "./rate_set.ts";

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  // Keep the digits as written; a number would be a float.
  parseAttributeValue: false,
  removeNSPrefix: true,
  // The file has no entities; a document that defines some comes from elsewhere.
  processEntities: false,
});

/**
 * Reads `<gesmes:Envelope>…<Cube><Cube time='…'><Cube currency='…' rate='…'/>…`.
 * @throws {MalformedRates} for any other document.
 */
export function parseEcb(xml: string): RateSet {
  if (XMLValidator.validate(xml) !== true) throw new MalformedRates("the response is not XML");
  const day = parser.parse(xml)?.Envelope?.Cube?.Cube;
  const cubes: unknown = day?.Cube;
  if (!Array.isArray(cubes)) throw new MalformedRates("the response has no rates");
  return rateSet("ecb", day["@time"], cubes.map((cube) => [cube["@currency"], cube["@rate"]]));
}
