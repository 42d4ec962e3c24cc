/** The owner's or the manager's assistant answers a member's proposal, sometimes both at once. */
import type { Client, Json } from "../model/client.ts";
import type { Proposals } from "../model/proposals.ts";

export const decideProposal = (proposals: Proposals) => async (client: Client): Promise<void> => {
  const { organization, place } = client.person;
  if (place > 1) return;
  const [proposal] = proposals.pending(organization);
  if (!proposal) return;
  const context = await client.ok("get_context");
  const shown = context?.data?.proposals?.find(({ id }: Json) => id === proposal.id);
  if (!context?.ok || proposal.state !== "pending") return;
  if (!shown) {
    if (!proposal.isBeingDecided) client.problem(`get_context lacks proposal ${proposal.id}`);
    return;
  }
  proposal.isBeingDecided = true;
  const envelope = await client.call("decide_proposal", {
    proposal_id: proposal.id,
    hash: shown.hash,
    decision: client.chance.oneIn(4) ? "refuse" : "approve",
  });
  if (envelope?.ok) proposal.state = envelope.data.state;
  else if (!envelope) { if (proposal.state === "pending") proposal.state = "unknown"; }
  else if (envelope.error.code !== "busy" && !/already/.test(JSON.stringify(envelope.error))) {
    client.problem(`decide_proposal failed: ${JSON.stringify(envelope.error).slice(0, 300)}`);
  }
};
