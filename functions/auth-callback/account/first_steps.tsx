/** @jsxImportSource hono/jsx */
/** The first steps of a new person, until all are done: connect an app, record an expense, add a bill. */
import type { Child } from "hono/jsx";
import type { Account } from "../../../shared/db/identity_store.ts";
import { ConnectSteps } from "../../../shared/pages/connect_steps.tsx";
import type { PageWords } from "../../../shared/words/page_words.ts";

type Steps = Account["first_steps"];

export const isNew = ({ app, expense, bill }: Steps): boolean => !app || !expense || !bill;

interface FirstStepsView {
  steps: Steps;
  connectorUrl: string;
  words: PageWords;
}

export const FirstSteps = ({ steps, connectorUrl, words: { firstSteps: words, connecting } }: FirstStepsView) => (
  <ol class="bare">
    <Step isDone={steps.app} title={words.app} words={words}>
      <p>{words.appLead}</p>
      <ConnectSteps connectorUrl={connectorUrl} words={connecting} />
    </Step>
    <Step isDone={steps.expense} title={words.expense} words={words}>
      <p>{words.expenseLead}</p>
    </Step>
    <Step isDone={steps.bill} title={words.bill} words={words}>
      <p>{words.billLead}</p>
    </Step>
  </ol>
);

function Step({ isDone, title, words, children }: {
  isDone: boolean;
  title: string;
  words: PageWords["firstSteps"];
  children: Child;
}) {
  return (
    <li class={isDone ? "step done" : "step"}>
      <h3>
        {title} {isDone && <span class="tag">{words.done}</span>}
      </h3>
      {!isDone && children}
    </li>
  );
}
