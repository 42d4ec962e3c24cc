/** @jsxImportSource hono/jsx */
/** The form that adds an approval rule. */
import type { Child } from "hono/jsx";
import { RadioList, SelectField, Submit, TextField } from "../../../shared/pages/components.tsx";
import type { Reader } from "../../../shared/words/reader.ts";
import { ANY, APPROVERS, ROLES, type TypedRule } from "./policy_form.ts";

interface RuleFormView {
  typed: TypedRule;
  /** The page's address. */
  here: string;
  /** The limit's currency. */
  currency: string;
  token: Child;
  reader: Reader;
}

export function RuleForm({ typed, here, currency, token, reader }: RuleFormView) {
  const { words: { approvalPolicy: words, frame }, catalog: { approvals: said } } = reader;
  const { problems } = typed;
  return (
    <form method="post" action={here} class="stack">
      {token}
      <input type="hidden" name="action" value="add" />
      <SelectField
        name="tool"
        label={words.what}
        reason={words.whatReason}
        error={problems.tool}
        required
        selected={typed.tool}
        unchosen={frame.choose}
        options={[
          { value: ANY, label: said.any },
          ...Object.entries(said.writes).map(([value, label]) => ({ value, label })),
        ]}
      />
      <TextField
        name="over"
        label={words.over(currency)}
        reason={words.overReason}
        error={problems.over}
        value={typed.over}
        inputmode="decimal"
        autocomplete="off"
        maxlength={18}
      />
      <TextField
        name="records"
        label={words.records}
        reason={words.recordsReason}
        error={problems.records}
        value={typed.records}
        inputmode="numeric"
        autocomplete="off"
        maxlength={5}
      />
      <fieldset>
        <legend>{words.whose}</legend>
        <div class="choices">
          {ROLES.map((role) => (
            <label class="choice">
              <input type="checkbox" name={`role_${role}`} checked={typed.roles.includes(role)} />
              <span class="title">{words.roles[role]}</span>
            </label>
          ))}
        </div>
        {problems.roles && <p class="invalid">{problems.roles}</p>}
      </fieldset>
      <RadioList
        name="approver"
        legend={words.approver}
        choices={APPROVERS.map((value) => ({ value, ...words.approvers[value] }))}
        selected={typed.approver}
      />
      <Submit>{words.addRule}</Submit>
    </form>
  );
}
