/** @jsxImportSource hono/jsx */
/** What the person lets the app do: the part of the consent page that asks whether it may write. */
import type { ConsentOrganization } from "../../shared/db/oauth_store.ts";
import type { Access } from "../../shared/oauth/access.ts";
import { RadioList } from "../../shared/pages/components.tsx";
import type { Words } from "../../shared/words/words.ts";

/** What it may do, by the person's roles in the selectable organizations. */
export function Abilities(
  { organizations, access, words }: {
    organizations: readonly ConsentOrganization[];
    access: Access;
    words: Words["pages"]["consent"];
  },
) {
  const roles = organizations.filter(({ has_connector }) => has_connector).map(({ role }) => role);
  const decides = organizations.some(({ has_connector, may_decide }) => has_connector && may_decide);
  if (roles.every((role) => role === "viewer")) {
    return (
      <>
        <input type="hidden" name="access" value="read" />
        <ul class="ticks" aria-label={words.facts}>
          <li>{words.canRead}</li>
          <li class="not">{words.readOnlyCannot}</li>
          <li class="not">{words.cannotDo}</li>
        </ul>
      </>
    );
  }
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
                {words.canDo} {decides && words.canDecide} {words.canUndo}{" "}
                {/* The tool update_settings lets only owners change those settings. */}
                {roles.includes("owner") ? words.alsoDoAsOwner : words.alsoDo}{" "}
                {roles.includes("viewer") && words.readOnlySomewhere}
              </>
            ),
          },
          { value: "read", title: words.access.read, detail: <>{words.canRead} {words.cannotChange}</> },
        ]}
        selected={access}
      />
      <ul class="ticks">
        <li class="not">{words.cannotDo}</li>
      </ul>
    </>
  );
}
