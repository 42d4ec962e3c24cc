/** @jsxImportSource hono/jsx */
/** The effects of a change or a proposal, record by record, with each field before and after. */
import type { Effect, Effects } from "../words/effects.ts";
import type { PageFormat } from "../words/page_format.ts";
import type { Words } from "../words/words.ts";
import { Name } from "./components.tsx";

interface EffectListProps extends Effects {
  /** The words of effects (`words.effects`). */
  said: Words["effects"];
  format: Pick<PageFormat, "number">;
}

export const EffectList = ({ effects, more, said, format }: EffectListProps) => (
  <>
    <ul class="effects">
      {effects.map((effect) => <EffectItem effect={effect} said={said} />)}
    </ul>
    {more > 0 && <p>{said.more(more, format.number(more))}</p>}
  </>
);

const EffectItem = ({ effect: { what, verb, fields }, said }: { effect: Effect; said: Words["effects"] }) => (
  <li>
    <p>
      <strong>
        <Name>{what}</Name>
      </strong>{" "}
      {said.verbs[verb]}
    </p>
    {fields.length > 0 && (
      <dl class="effect">
        {fields.map(({ label, before, after }) => (
          <div>
            <dt>{label}</dt>
            <dd>
              {before !== undefined && (
                <del>
                  <span class="hidden">{said.before}:</span>
                  <Name>{before}</Name>
                </del>
              )} {after !== undefined && (
                <ins>
                  <span class="hidden">{said.after}:</span>
                  <Name>{after}</Name>
                </ins>
              )}
            </dd>
          </div>
        ))}
      </dl>
    )}
  </li>
);
