/** @jsxImportSource hono/jsx */
/** The tabs of an organization's pages, and the switcher to the reader's other organizations. Both work without scripts. */
import type { OrganizationState } from "../organization_state.ts";
import { activityPath, booksPath, organizationPath } from "../urls.ts";
import type { PageWords } from "../words/page_words.ts";
import { Name } from "./components.tsx";

type Page = "books" | "members" | "activity" | "approvals" | "export" | "plan";

export interface Tabs {
  id: string;
  name: string;
  /** The reader's. */
  organizations: readonly { id: string; name: string }[];
  pages: readonly Page[];
  /** The current tab, also on pages below it; undefined outside of the tabs. */
  current: Page | "account" | undefined;
}

interface Rights {
  writes: boolean;
  exports: boolean;
  plans: boolean;
}

/** The pages of an organization that any member may open, except deletion. */
export const pagesFor = ({ writes, exports, plans }: Rights): Page[] => [
  ...["books", "members", "activity"] as const,
  ...(writes ? ["approvals" as const] : []),
  ...(exports ? ["export" as const] : []),
  ...(plans ? ["plan" as const] : []),
];

/** The tabs of a page of the organization. */
export function tabsOf(id: string, state: OrganizationState | undefined, current?: Page): Tabs | undefined {
  if (!state?.tabs) return undefined;
  const { name, writes, tabs } = state;
  return { id, name, organizations: tabs.organizations, pages: pagesFor({ ...tabs, writes }), current };
}

const pathOf = (page: Page, id: string): string =>
  page === "books" ? booksPath(id) : page === "activity" ? activityPath(id) : organizationPath(id, page);

export function Switcher({ tabs, words: { frame, organization: words } }: { tabs: Tabs; words: PageWords }) {
  // Every member may open these pages.
  const [page = "books"] = (["members", "activity"] as const).filter((one) => one === tabs.current);
  return (
    <details class="switch">
      <summary>
        <Name>{tabs.name}</Name> <span class="hidden">{frame.switchOrganization}</span>
      </summary>
      <ul>
        {tabs.organizations.map(({ id, name }) => (
          <li>
            <a href={pathOf(page, id)} aria-current={id === tabs.id ? "true" : undefined}>
              <Name>{name}</Name>
            </a>
          </li>
        ))}
        <li>
          <a href="/organizations/new">{words.create}</a>
        </li>
      </ul>
    </details>
  );
}

export const TabList = ({ tabs: { id, name, pages, current }, words: { organization: words } }: {
  tabs: Tabs;
  words: PageWords;
}) => (
  <nav class="column tabs" aria-label={words.pagesOf(name)}>
    {pages.map((page) => (
      <a href={pathOf(page, id)} aria-current={page === current ? "page" : undefined}>{words.pages[page]}</a>
    ))}
  </nav>
);

/** Set by the account page, which preserves the organization from which its reader came. */
export const accountPath = (tabs: Tabs | undefined): string =>
  tabs && tabs.organizations.length > 1 ? `/account?organization=${tabs.id}` : "/account";
