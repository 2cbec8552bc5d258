/**
 * Coding agents through a proxy that cuts connections: every task ends right, and what is billed is what the provider
 * reported. They ask again after a cut, which is another generation, or the same with `x-svc-join`. Where an agent gives up
 * instead, what was billed by then has to be right.
 */
import { assert, assertEquals } from "@std/assert";
import { testGateway } from "../../support/gateway.ts";
import { type LoopbackProvider, loopbackProvider, sseResponse } from "../../support/provider.ts";
import { SCRIPTS } from "../../support/script/mod.ts";
import { eventually } from "../../support/time.ts";
import { type Program, PROGRAMS, SEEDS } from "./agents.ts";
import { cuttingProxy } from "./cutting_proxy.ts";
import { installed } from "./program.ts";

/** Calls of a tool until the answer. */
const STEPS = 6;
const DONE = "The note is read.";
const proof = (step: number) => `gAAAAABproof${step}==`;

/** Answers by how far the conversation is, so that a request that comes again gets the same. */
function answering(program: Program, home: string): LoopbackProvider {
  const script = SCRIPTS[program.api];
  return loopbackProvider(({ body }) => {
    const step = program.step(body);
    const said = step === undefined ? { text: "A note" } : step < STEPS
      ? {
        ...(program.keepsProofs && { reasoning: { text: `Look at ${step}.`, proof: proof(step) } }),
        text: `Step ${step}.`,
        calls: [program.call(step, body, home)],
      }
      : { text: DONE };
    const turn = step ?? 900;
    return body.stream === true
      ? sseResponse(script.frames(said, turn))
      : Response.json(script.whole(said, turn));
  });
}

/** What each answer of the scripts reports. */
const REPORTED = { "anthropic-messages": [424, 95], "openai-responses": [75, 80], "openai-chat": [43, 36] };

for (const program of PROGRAMS) {
  const path = installed(program.name);
  for (const [seed, joins] of SEEDS.flatMap((seed) => [[seed, false], [seed, true]] as const)) {
    Deno.test({
      name: `${program.name} ends its task through connections that are cut${
        joins ? ", and pays no turn twice" : ""
      } (${seed})`,
      ignore: path === undefined,
      async fn() {
        const home = await Deno.makeTempDir();
        await Deno.writeTextFile(`${home}/note.txt`, "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
        const provider = answering(program, home);
        const gateway = await testGateway({ p: { api: program.api, url: provider.url } });
        const proxy = cuttingProxy(gateway.url, {
          seed,
          most: 6,
          within: program.within ?? 3000,
          share: program.share ?? 0.5,
        });
        const { said, all } = await program.run(path!, { home, proxy, joins });
        const gaveUp = program.givesUp !== undefined && said.includes(program.givesUp);
        if (!gaveUp) assertEquals(said, DONE, all);
        assert(proxy.cuts > 0, `of ${proxy.connections} connections none was cut`);
        // Calls whose caller was cut off go on to their end.
        const generations = async () => (await gateway.gateway.accounts.generations({ limit: 100 })).data;
        await eventually(async () => (await generations()).length === provider.seen.length);
        const records = await generations();
        const [input, output] = REPORTED[program.api];
        for (const { status, usage } of records) {
          assertEquals([status, usage!.input_tokens, usage!.output_tokens], ["completed", input, output]);
        }
        assertEquals(new Set(records.map(({ id }) => id)).size, provider.seen.length);
        const turns = provider.seen.filter(({ body }) =>
          program.step(body) !== undefined && !program.continues?.(body)
        ).length;
        if (Deno.env.has("SLUICE_TEST_SHOW")) {
          console.log(`${proxy.cuts} cuts, ${turns} answers for ${STEPS + 1} turns`);
        }
        if (joins && !gaveUp) assertEquals(turns, STEPS + 1);
        if (program.keepsProofs && !gaveUp) {
          const last = provider.seen.findLast(({ body }) => program.step(body) === STEPS)!;
          const proofs = Array.from({ length: STEPS }, (_, step) => proof(step));
          assertEquals(SCRIPTS[program.api].proofs(last.body), proofs);
        }
        await proxy.close();
        await gateway.close();
        await provider.close();
        await Deno.remove(home, { recursive: true });
      },
    });
  }
}
