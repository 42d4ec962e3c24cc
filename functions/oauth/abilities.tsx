/** @jsxImportSource hono/jsx */
/** The part of the consent page that asks whether the app may write. */
import type { Child } from "hono/jsx";
import type { ConsentOrganization } from "../../shared/db/oauth_store.ts";
import type { Access } from "../../shared/oauth/access.ts";
import { RadioList } from "../../shared/pages/components.tsx";
import type { PageWords } from "../../shared/words/page_words.ts";

interface AbilitiesView {
  organizations: readonly ConsentOrganization[];
  access: Access;
  /** A line about the page that opens after the choice. */
  destination: Child;
  words: PageWords["consent"];
}

/** The app's abilities, by the person's roles in the selectable organizations. */
export function Abilities({ organizations, access, destination, words }: AbilitiesView) {
  const roles = organizations.filter(({ has_connector }) => has_connector).map(({ role }) => role);
  const decides = organizations.some(({ has_connector, may_decide }) => has_connector && may_decide);
  const limits = (
    <>
      <Line as="li" icon="lock">{words.cannotDo}</Line>
      <Line as="li" icon="leave">{destination}</Line>
    </>
  );
  if (roles.every((role) => role === "viewer")) {
    return (
      <>
        <input type="hidden" name="access" value="read" />
        <ul class="lines" aria-label={words.facts}>
          <Line as="li" icon="eye">{words.canRead}</Line>
          <Line as="li" icon="no">{words.readOnlyCannot}</Line>
          {limits}
        </ul>
      </>
    );
  }
  const { alsoDo } = words;
  return (
    <>
      <RadioList
        name="access"
        legend={words.facts}
        choices={[
          {
            value: "write",
            title: words.access.write,
            detail: (
              <>
                <Line icon="pen">{words.canDo}</Line>
                <Line icon="swap">{words.canSettle}</Line>
                {decides && <Line icon="yes">{words.canDecide}</Line>}
                <Line icon="undo">{words.canUndo}</Line>
                {roles.includes("viewer") && <Line icon="eye">{words.readOnlySomewhere}</Line>}
              </>
            ),
          },
          {
            value: "read",
            title: words.access.read,
            detail: (
              <>
                <Line icon="eye">{words.canRead}</Line>
                <Line icon="no">{words.cannotChange}</Line>
              </>
            ),
          },
        ]}
        selected={access}
      />
      <ul class="lines">{limits}</ul>
      <details>
        <summary>{words.also}</summary>
        <ul>
          <li>{alsoDo.see}</li>
          <li>{alsoDo.assign}</li>
          <li>{alsoDo.update}</li>
          {/* Only owners can change those settings with update_settings. */}
          <li>{roles.includes("owner") ? alsoDo.own : alsoDo.mails}</li>
        </ul>
      </details>
    </>
  );
}

/** Drawn on a square of 24 units in the text's color. */
const ICONS = {
  eye: "M2 12s4-6.5 10-6.5S22 12 22 12s-4 6.5-10 6.5S2 12 2 12zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  pen: "M4 20v-4L15 5l4 4L8 20z",
  swap: "M4 9h15l-4-4M20 15H5l4 4",
  yes: "M4 13l5 5L20 7",
  undo: "M8 5L4 9l4 4M4 9h10a5 5 0 0 1 0 10h-4",
  no: "M6 6l12 12M18 6L6 18",
  lock: "M7 11V8a5 5 0 0 1 10 0v3M5 11h14v9H5z",
  leave: "M14 5h5v5M19 5l-9 9M17 14v5H5V7h5",
};

/** A short line after its icon; a label must not contain a list. */
function Line({ as: Element = "span", icon, children }: {
  as?: "li" | "span";
  icon: keyof typeof ICONS;
  children: Child;
}) {
  return (
    <Element class="line">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d={ICONS[icon]} />
      </svg>
      <span>{children}</span>
    </Element>
  );
}
