/** `POST /v1/responses/compact`: a generation whose answer is the compacted conversation. */
import { isObject, type Loose } from "../exchange/json.ts";
import { compactedOf, keptMessages, summaryRequest } from "../formats/responses/compaction.ts";
import type { Seal } from "../exchange/proof.ts";
import type { RequestContext } from "./endpoint.ts";
import { generation } from "./generation.ts";

/** Returns a shortened conversation: the messages that are kept, and a summary that replaces the others. */
export async function compact(context: RequestContext): Promise<Response> {
  const { sealer } = context.state.kit;
  let kept: Loose[] = [];
  let seal: Seal | undefined;
  const response = await generation(context, "responses", (body, { account }) => {
    // Copied first: DLP masking would change them in place.
    if (isObject(body)) kept = keptMessages(body.input);
    ({ seal } = sealer.of(account));
    return summaryRequest(body);
  });
  if (response.status !== 200 || seal === undefined) return response;
  const answer = await response.json() as Loose;
  return Response.json(compactedOf(answer, kept, seal), { headers: response.headers });
}
