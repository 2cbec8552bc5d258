/** Streams and answers of random content: legal parts or a Failure, in bounded memory. */
import { assertThrows } from "@std/assert";
import fc from "fast-check";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import { assertLegal } from "../gemini/legal_parts.ts";
import { call } from "./chunks.ts";

Deno.test("decodeStream() holds a bounded amount of memory", () => {
  const decoder = chatCompletions.decodeStream();
  const data = JSON.stringify(
    call({ index: 0, id: "a", function: { name: "f", arguments: "x".repeat(8 << 20) } }),
  );
  assertThrows(
    () => {
      for (let i = 0; i < 12; i++) decoder.push({ event: "", data }, []);
    },
    Failure,
    "broke off",
  );
});

/** Values where the wire wants others, and words that mean something to the decoder. */
const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<unknown>(
      null,
      "",
      "stop",
      "a",
      0,
      1,
      -1,
      1e21,
      true,
      [],
      {},
      "{}",
      "reasoning.text",
      "data:image/png;base64,AA",
      "__proto__",
    ),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        ...("choices delta message content tool_calls function custom name arguments input id index type text thinking " +
          "reasoning reasoning_content reasoning_details summary signature data refusal annotations url_citation url " +
          "audio images image_url usage prompt_tokens completion_tokens total_tokens x_groq finish_reason logprobs token " +
          "error code model function_call extra_content citations search_results __proto__ constructor")
          .split(" "),
      ),
      tie("value"),
      { maxKeys: 6 },
    ),
  ),
})).value;

Deno.test("decodeStream() of any frames gives legal parts or a Failure", () => {
  const chunk = fc.oneof(
    anything,
    fc.record({
      choices: fc.array(
        fc.record({
          index: fc.constantFrom(0, 1, undefined),
          delta: anything,
          finish_reason: anything,
          logprobs: anything,
        }),
        { maxLength: 2 },
      ),
      usage: anything,
    }, { requiredKeys: ["choices"] }),
  );
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 12 }), fc.boolean(), (chunks, done) => {
      const decoder = chatCompletions.decodeStream();
      const out: Part[] = [];
      let whole = true;
      try {
        for (const c of chunks) decoder.push({ event: "", data: JSON.stringify(c) ?? "" }, out);
        if (done) decoder.push({ event: "", data: "[DONE]" }, out);
        decoder.end(out);
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown;
        whole = false;
      }
      if (out.length > 0 && out[0].type !== "usage") assertLegal(out, { whole });
    }),
    { numRuns: 3000 },
  );
});

Deno.test("decodeAnswer() of any body gives legal parts or a Failure", () => {
  fc.assert(
    fc.property(anything, (body) => {
      try {
        assertLegal(chatCompletions.decodeAnswer(body));
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown;
      }
    }),
    { numRuns: 2000 },
  );
});
