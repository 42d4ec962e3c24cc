/** @jsxImportSource hono/jsx */
import { Name } from "../../../shared/pages/components.tsx";
import type { DatevCategory } from "./datev_categories.ts";

/** "Food, Travel" */
export const CategoryNames = ({ categories }: { categories: readonly DatevCategory[] }) => (
  <>
    {categories.map(({ name }, place) => (
      <>
        {place > 0 && ", "}
        <Name>{name}</Name>
      </>
    ))}
  </>
);
