/** Fields without which no request fits, as each format lists them beside the schemas of all its fields. */
import { assertEquals } from "@std/assert";
import * as chat from "../../src/formats/chat_completions/decode_request.ts";
import * as messages from "../../src/formats/messages/decode_request.ts";
import * as responses from "../../src/formats/responses/decode_request.ts";
import { type BodyFields, bodyOf } from "../../src/formats/validation.ts";

for (const [name, { FIELDS, REQUIRED }] of Object.entries({ chat, messages, responses })) {
  Deno.test(`${name}: a request needs the fields that are listed as required, and no other`, () => {
    const fields: BodyFields = FIELDS;
    const needed = Object.keys(fields).filter((field) => !fields[field]().safeParse(undefined).success);
    assertEquals([...REQUIRED], needed);
    const { issues } = bodyOf(fields).safeParse({}).error!;
    assertEquals(issues.map(({ path }) => path[0]), needed);
  });
}
