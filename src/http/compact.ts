/** `POST /v1/responses/compact`: a generation whose answer is the compacted conversation. */
import type { Loose } from "../exchange/json.ts";
import { isObject } from "../exchange/json.ts";
import { compactedOf, summaryRequest } from "../formats/responses/compaction.ts";
import type { Seal } from "../exchange/proof.ts";
import type { RequestContext } from "./endpoint.ts";
import { generation } from "./generation.ts";

export async function compact(context: RequestContext): Promise<Response> {
  const { sealer } = context.state.kit;
  let input: unknown;
  let seal: Seal | undefined;
  const response = await generation(context, "responses", (body, { account }) => {
    if (isObject(body)) ({ input } = body);
    ({ seal } = sealer.of(account));
    return summaryRequest(body);
  });
  if (response.status !== 200 || seal === undefined) return response;
  const answer = await response.json() as Loose;
  return Response.json(compactedOf(answer, input, seal), { headers: response.headers });
}
