/** An organization with people in every role, and calls of the functions that change its members. */
import { addMember, addPerson, type Books, type Json, openBooks } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";
import { hashToken } from "../../shared/oauth/tokens.ts";

export const AT = "2026-11-20T12:00:00Z";
/** An instant this many days after {@link AT}. */
export const later = (days: number) => new Date(Date.parse(AT) + days * 86_400_000).toISOString();

export const addressOf = (userId: string) => `${userId}@example.com`;

export interface Household {
  anna: Books;
  organizationId: string;
  manager: string;
  member: string;
  viewer: string;
  /** A person with an account and no organization. */
  stranger: string;
}

/** On the Team plan; Anna owns it. */
export async function household(database: TestDatabase): Promise<Household> {
  await database.reset();
  const anna = await openBooks(database, { day: "2026-11-20" });
  const { organizationId } = anna;
  const add = async (role: string) => {
    const userId = await addPerson(database, "UTC");
    await addMember(database, organizationId, userId, role);
    return userId;
  };
  return {
    anna,
    organizationId,
    manager: await add("manager"),
    member: await add("member"),
    viewer: await add("viewer"),
    stranger: await addPerson(database, "UTC"),
  };
}

/** Calls the functions, keyed by outcome. */
export const membersOf = (database: TestDatabase) => ({
  async invite(
    home: Household,
    by: string,
    asked: { address?: string; role?: string; token?: string; at?: string } = {},
  ): Promise<string> {
    const answer = await database.asService<Json>("invite_member", {
      user_id: by,
      organization_id: home.organizationId,
      address: asked.address ?? addressOf(home.stranger),
      role: asked.role ?? "member",
      token_hash: hashToken(asked.token ?? "first"),
      at: asked.at ?? AT,
    });
    return answer.outcome;
  },
  async read(userId: string, { token = "first", email = addressOf(userId), at = AT } = {}): Promise<Json> {
    return await database.asService<Json>("read_invitation", {
      token_hash: hashToken(token),
      user_id: userId,
      email,
      at,
    });
  },
  async accept(userId: string, { token = "first", email = addressOf(userId), at = AT } = {}): Promise<string> {
    const answer = await database.asService<Json>("accept_invitation", {
      token_hash: hashToken(token),
      user_id: userId,
      email,
      at,
    });
    return answer.outcome;
  },
  async about(
    name: "change_member_role" | "open_private" | "remove_member" | "propose_owner",
    home: Household,
    asked: { by: string; member: string; at?: string } & Record<string, unknown>,
  ): Promise<string> {
    const { by, member, at = AT, ...rest } = asked;
    const answer = await database.asService<Json>(name, {
      user_id: by,
      organization_id: home.organizationId,
      member_id: member,
      ...rest,
      at,
    });
    return answer.outcome;
  },
  async handover(
    name: "accept_handover" | "end_handover",
    home: Household,
    { by, id, at = AT }: { by: string; id: string; at?: string },
  ): Promise<string> {
    const answer = await database.asService<Json>(name, {
      user_id: by,
      organization_id: home.organizationId,
      handover_id: id,
      at,
    });
    return answer.outcome;
  },
  async handoverId(): Promise<string> {
    return (await database.query<{ id: string }>("select id from identity.handovers"))[0]!.id;
  },
  async invitationId(): Promise<string> {
    return (await database.query<{ id: string }>("select id from identity.invitations"))[0]!.id;
  },
  async roles(home: Household): Promise<Record<string, string>> {
    const rows = await database.query<{ user_id: string; role: string }>(
      "select user_id, role from identity.memberships where organization_id = $1",
      [home.organizationId],
    );
    return Object.fromEntries(rows.map(({ user_id, role }) => [user_id, role]));
  },
  async events(): Promise<string[]> {
    const rows = await database.query<{ event: string; detail: unknown }>(
      "select event, detail from identity.audit_events order by id",
    );
    return rows.map(({ event, detail }) => `${event} ${JSON.stringify(detail)}`);
  },
});
