/** @jsxImportSource hono/jsx */
/** The notice at the top of every page of an organization that accepts no changes. */
import type { Child } from "hono/jsx";

export const organizationState = {
  refusedTitle: "Nothing can be changed here now",
  deleting: (name: Child, on: Child) => (
    <>
      {name} will be deleted on {on}. Until then you can read it, but nothing can be added or changed.
    </>
  ),
  keep: "Keep it after all",
  ownerKeeps: (owner: Child) => <>Only its owner, {owner}, can stop that.</>,
  noChanges: (name: Child) => <>The plan of {name} doesn’t include adding or changing anything.</>,
  choosePlan: "Choose a plan",
  ownerChooses: (owner: Child) => <>Its owner, {owner}, can choose another one.</>,
};
