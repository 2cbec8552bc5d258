/** Claude Code itself, in front of a provider that thinks before each of ten calls of a tool. */
import { assert, assertEquals } from "@std/assert";
import { array, object } from "../../../src/exchange/json.ts";
import { SECRET, testGateway } from "../../support/gateway.ts";
import { loopbackProvider, type Seen, sseResponse } from "../../support/provider.ts";
import { SCRIPTS } from "../../support/script/mod.ts";
import { installed, run } from "./program.ts";

const claude = installed("claude");
/** Each takes two turns of the model: a call of a tool, and the answer. */
const PROMPTS = 5;
const script = SCRIPTS["anthropic-messages"];
const proof = (n: number) => `EqQBCkYIBxgCKkDcW1+/step${n}==`;

/** The main conversation has tools; what else Claude Code asks of its model gets a word. */
function isMain({ body }: Seen): boolean {
  return array(body.tools).some((tool) => object(tool).name === "Read");
}

Deno.test({
  name: "Claude Code keeps the signed thinking of ten turns, asked for by a short name",
  ignore: claude === undefined,
  async fn() {
    const home = await Deno.makeTempDir();
    await Deno.writeTextFile(`${home}/note.txt`, "Bring an umbrella.");
    let turn = 0;
    const provider = loopbackProvider((seen) => {
      if (!isMain(seen)) {
        const said = { text: "A note" };
        return seen.body.stream === true
          ? sseResponse(script.frames(said, 900))
          : Response.json(script.whole(said, 900));
      }
      const n = turn++;
      const reasoning = { text: `Step ${n}.`, proof: proof(n) };
      const said = n % 2 === 0
        ? {
          reasoning,
          calls: [{ id: `toolu_${n}`, name: "Read", input: { file_path: `${home}/note.txt`, limit: n + 1 } }],
        }
        : { reasoning, text: "All is read." };
      return sseResponse(script.frames(said, n));
    });
    const gateway = await testGateway({
      p: {
        api: "anthropic-messages",
        url: provider.url,
        model: {
          id: "anthropic/claude-sonnet-4-5",
          routes: [{ provider: "p", model: "claude-sonnet-4-5" }],
          short_names: ["claude-sonnet-4-5"],
        },
      },
    });
    const said: string[] = [];
    for (let prompt = 0; prompt < PROMPTS; prompt++) {
      const { stdout, stderr, code } = await run(claude!, {
        home,
        args: [
          "-p",
          `Read note.txt, part ${prompt}.`,
          ...(prompt > 0 ? ["--continue"] : []),
          ...["--model", "claude-sonnet-4-5", "--allowedTools", "Read", "--output-format", "json"],
        ],
        env: {
          ANTHROPIC_BASE_URL: gateway.url,
          ANTHROPIC_AUTH_TOKEN: SECRET,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          DISABLE_AUTOUPDATER: "1",
        },
      });
      assertEquals(code, 0, stdout + stderr);
      said.push(JSON.parse(stdout).result);
    }
    const main = provider.seen.filter(isMain);
    assertEquals(main.length, 2 * PROMPTS);
    for (const [n, { body }] of main.entries()) {
      assertEquals(script.proofs(body), Array.from({ length: n }, (_, i) => proof(i)), `request ${n}`);
    }
    const { data } = await gateway.gateway.accounts.generations({ limit: 50 });
    assert(data.every(({ model }) => model === "anthropic/claude-sonnet-4-5"));
    assertEquals(new Set(data.map(({ session }) => session)).size, 1);
    await gateway.close();
    await provider.close();
    await Deno.remove(home, { recursive: true });
  },
});
