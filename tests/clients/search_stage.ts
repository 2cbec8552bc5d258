/** The gateway in front of a provider that searches twice and answers, and of a search engine. */
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { hitsOf, searchCall } from "../websearch/rig.ts";
import { type Round, streamOf, wholeOf } from "../websearch/rounds.ts";

export { SECRET };

const SEARCHING: Round = {
  proof: "PROOF",
  text: "Wait. ",
  calls: [searchCall("one", 0), searchCall("two", 1)],
  usage: { input: 5, output: 5 },
};
const ANSWER: Round = { text: "Found it.", usage: { input: 9, output: 3 } };
const API = "anthropic-messages";

export interface SearchStage extends AsyncDisposable {
  gateway: TestGateway;
  url: string;
  model: string;
}

export async function searchStage(): Promise<SearchStage> {
  const provider = loopbackProvider(({ body }) => {
    const round = JSON.stringify(body).includes("tool_result") ? ANSWER : SEARCHING;
    if (body.stream !== true) return Response.json(wholeOf(API, round));
    return new Response(streamOf(API, round).join(""), { headers: { "content-type": "text/event-stream" } });
  });
  const engine = loopbackProvider(({ path }) => hitsOf(new URL(path, "http://h").searchParams.get("q")!));
  const gateway = await testGateway({ [API]: { api: API, url: provider.url } }, {
    search: { engine: "searxng", base_url: engine.url },
  });
  return {
    gateway,
    url: gateway.url,
    model: `${API}/model`,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await provider.close();
      await engine.close();
    },
  };
}
