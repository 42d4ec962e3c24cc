/**
 * The database looks up a person's rights once per tool call (identity.note_standing), and applies them to no other
 * claims.
 */
import { assertEquals } from "@std/assert";
import { addMember, addPerson, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";

const database = await sharedDatabase();

const STANDING = `select identity.current_organization_id() as organization, identity.may('books:write') as writes,
  identity.sees_everything() as everything, identity.sees_own_only() as own,
  (select count(*)::int from app.expenses) as expenses`;
const NOBODY = { organization: null, writes: false, everything: false, own: false, expenses: 0 };

async function twoBooks() {
  await database.reset();
  const [ours, theirs] = [await openBooks(database), await openBooks(database)];
  await ours.call("log_expenses", { items: [{ name: "Lunch", amount: "14.50" }] });
  const claimsOf = ({ userId, organizationId }: { userId: string; organizationId: string }) => ({
    sub: userId,
    organization_id: organizationId,
  });
  return { ours, theirs, claims: claimsOf(ours), other: claimsOf(theirs) };
}

Deno.test("a recorded standing is ignored for other claims", async () => {
  const { ours, theirs, claims, other } = await twoBooks();
  await database.asRole("authenticated", claims, async (session) => {
    await session.query("select identity.note_standing()");
    assertEquals(await session.query(STANDING), [
      { organization: ours.organizationId, writes: true, everything: true, own: false, expenses: 1 },
    ]);
    const become = (claims: unknown) =>
      session.query("select set_config('request.jwt.claims', $1, true)", [JSON.stringify(claims)]);
    await become({ ...other, role: "authenticated" });
    assertEquals(await session.query(STANDING), [
      { organization: theirs.organizationId, writes: true, everything: true, own: false, expenses: 0 },
    ]);
    // Claims of another organization, and no claims.
    await become({ ...claims, organization_id: theirs.organizationId });
    assertEquals(await session.query(STANDING), [NOBODY]);
    await session.query("select identity.note_standing()");
    assertEquals(await session.query(STANDING), [NOBODY]);
    await session.query("select set_config('request.jwt.claims', '', true)");
    assertEquals(await session.query(STANDING), [NOBODY]);
  });
});

Deno.test("a recorded standing ends with its tool, on success and failure", async () => {
  const { claims } = await twoBooks();
  for (const [tool, args] of [["list_expenses", {}], ["list_expenses", { from: "2026-02-30" }]] as const) {
    await database.asRole("authenticated", claims, async (session) => {
      await session.query("select app.run_tool($1, $2::text::jsonb, now())", [tool, JSON.stringify(args)]);
      assertEquals(await session.query("select identity.is_standing_noted() is true as is_noted"), [{
        is_noted: false,
      }]);
    });
  }
});

Deno.test("a recorded standing matches the tables for each role", async () => {
  const { ours, claims } = await twoBooks();
  const member = await addPerson(database, "UTC");
  await addMember(database, ours.organizationId, member, "member");
  const asMember = { ...claims, sub: member };
  const both = async () => {
    const noted = await database.asRole("authenticated", asMember, async (session) => {
      await session.query("select identity.note_standing()");
      return await session.query(STANDING);
    });
    assertEquals(noted, await database.asRole("authenticated", asMember, (session) => session.query(STANDING)));
    return noted[0];
  };
  const organization = ours.organizationId;
  const seen = { organization, writes: true, everything: true, own: false, expenses: 1 };
  assertEquals(await both(), seen);
  await database.query("update identity.organizations set own_only = true where id = $1", [organization]);
  assertEquals(await both(), { ...seen, everything: false, own: true, expenses: 0 });
  await database.query("update identity.organizations set own_only = false where id = $1", [organization]);
  await database.query(
    "update app.categories set is_private = true where organization_id = $1 and name = 'Food'",
    [organization],
  );
  assertEquals((await both() as { everything: boolean }).everything, false);
  await database.query("update identity.memberships set role = 'viewer' where user_id = $1", [member]);
  assertEquals((await both() as { writes: boolean }).writes, false);
  await database.query("update auth.users set banned_until = 'infinity' where id = $1", [member]);
  assertEquals(await both(), NOBODY);
});
