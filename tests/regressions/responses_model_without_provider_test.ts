/** A name without a provider is a mistake in the request on responses, as it is on chat-completions, not a missing model. */
import { assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { responses } from "../../src/formats/responses/mod.ts";

for (const model of ["gpt-5", "/gpt-5", "openai/"]) {
  Deno.test(`responses.decodeRequest() model ${JSON.stringify(model)}`, () => {
    const thrown: Failure = assertThrows(
      () => responses.decodeRequest({ model, input: "Hello" }, { unseal: () => null, headers: () => ({}) }),
      Failure,
    );
    assertEquals(thrown.code, "validation_error");
    assertEquals(thrown.errors?.map((mistake) => mistake.loc), [["model"]]);
  });
}
