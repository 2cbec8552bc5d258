/** Events named `error` whose data does not say so: servers and proxies write their own errors into a vendor's stream. */
import { assertEquals, assertThrows } from "@std/assert";
import { Failure, type FailureCode } from "../../src/exchange/failure.ts";
import type { Part } from "../../src/exchange/part.ts";
import type { StreamDecoder } from "../../src/formats/format.ts";
import { decodeStream as chat } from "../../src/formats/chat_completions/decode_stream.ts";
import { decodeStream as messages } from "../../src/formats/messages/decode_stream.ts";
import { decodeStream as responses } from "../../src/formats/responses/decode_stream.ts";

const DECODERS: Readonly<Record<string, () => StreamDecoder>> = { chat, messages, responses };
const ERRORS: readonly [data: string, code: FailureCode][] = [
  ['{"message":"The server had an error","type":"server_error"}', "provider_unavailable"],
  ['{"type":"overloaded_error","message":"Overloaded"}', "provider_model_down"],
  ['{"type":"rate_limit_error","message":"Slow down"}', "provider_rate_limited"],
  ['{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "provider_model_down"],
  ["upstream request timeout", "provider_timeout"],
  ['"Rate limit reached"', "provider_rate_limited"],
];

for (const [name, decoder] of Object.entries(DECODERS)) {
  Deno.test(`an event named error is one, whatever its data: ${name}`, () => {
    for (const [data, code] of ERRORS) {
      const out: Part[] = [];
      const failure = assertThrows(() => decoder().push({ event: "error", data }, out), Failure);
      assertEquals([data, failure.code, failure.begun, out], [data, code, false, []]);
    }
  });
}
