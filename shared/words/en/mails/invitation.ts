/** Words of the mails that invite a person to join an organization, or to take it over. */

type GivenRole = "manager" | "member" | "viewer";

/** Completes "you can". */
const CAN: Record<GivenRole, string> = {
  manager: "see and change everything there, and invite others",
  member: "see the expenses and bills there, and add, change and delete them",
  viewer: "see the expenses and bills there and export them, but change nothing",
};
const AS: Record<GivenRole, string> = { manager: "a manager", member: "a member", viewer: "a viewer" };

interface Invited {
  /** The inviter's address. */
  inviter: string;
  /** In quotation marks; undefined if the name is illegible. */
  organization: string | undefined;
  role: GivenRole;
  address: string;
  link: string;
  days: number;
}

export const invitation = {
  subject: ({ inviter, organization }: Pick<Invited, "inviter" | "organization">): string =>
    `${inviter} invited you to ${organization ?? "shared books"} in Expenses`,
  text: ({ inviter, organization, role, address, link, days }: Invited): string =>
    [
      `${inviter} has invited you to join ${organization ?? "an organization"} in Expenses as ${AS[role]}. ` +
      `You can ${CAN[role]}.`,
      `Read more and accept:\n${link}`,
      `The link works for ${days} days, once, and only for ${address}.`,
      ...(organization ? [`The name ${organization} was chosen by its members.`] : []),
      `Don’t know ${inviter}? Ignore this email, and nothing happens.`,
    ].join("\n\n") + "\n",
};

export const handover = {
  subject: ({ owner }: { owner: string }): string =>
    `${owner} asks you to become the owner of shared books in Expenses`,
  text: ({ owner, organization, link, days }: {
    owner: string;
    organization: string | undefined;
    link: string;
    days: number;
  }): string =>
    [
      `${owner} asks you to become the owner of ${organization ?? "an organization"} in Expenses. ` +
      "You would decide about its plan and its members, and its dates would use your time zone.",
      `Accept or decline:\n${link}`,
      `Until you accept, nothing changes. You have ${days} days.`,
    ].join("\n\n") + "\n",
};
