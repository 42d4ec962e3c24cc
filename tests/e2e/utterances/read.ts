/** Reads the files of utterances. A line's first character is its kind, so the rest needs no quoting. */
export interface Utterance {
  id: string;
  who: "anna" | "ben" | "eve";
  said: string;
  calls: { tool: string; args: Record<string, unknown>; refused?: string }[];
  /** The change of the books: "EUR 14.50, expenses +1"; "" for none. */
  effect: string;
  /** Texts that the last answer must contain. */
  says: RegExp[];
  /** Texts that the last answer must not contain. */
  silent: RegExp[];
}

/** @returns utterances whose id begins with the variable ONLY, if it is set */
export async function readUtterances(...files: string[]): Promise<Utterance[]> {
  const found: Utterance[] = [];
  for (const file of files) {
    for (const line of (await Deno.readTextFile(new URL(file, import.meta.url))).split("\n")) {
      const [mark, text] = [line.slice(0, 1), line.slice(2)];
      const current = found.at(-1)!;
      switch (mark) {
        case ">": {
          const [, id, who, said] = /^(\S+) (?:\((ben|eve)\) )?(.*)$/.exec(text)!;
          found.push({
            id: id!,
            who: (who ?? "anna") as Utterance["who"],
            said: said!,
            calls: [],
            effect: "",
            says: [],
            silent: [],
          });
          break;
        }
        case "=":
          current.effect = text;
          break;
        case "+":
          current.says.push(new RegExp(text));
          break;
        case "-":
          current.silent.push(new RegExp(text));
          break;
        case "!":
          current.calls.at(-1)!.refused = text;
          break;
        case "":
        case "#":
          break;
        default: {
          const space = line.indexOf(" ");
          const [tool, args] = space < 0 ? [line, "{}"] : [line.slice(0, space), line.slice(space)];
          current.calls.push({ tool, args: JSON.parse(args) });
        }
      }
    }
  }
  const only = Deno.env.get("ONLY");
  return found.filter(({ id }) => !only || only.split(",").includes(id));
}
