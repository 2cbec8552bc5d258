/** What is kept of a call that another model answers than the asked one: the payload names the model that its caller was told. */
import { assertEquals } from "@std/assert";
import { ADMIN, PAYLOAD_KEY } from "../payloads/support.ts";
import { SECRET } from "../support/gateway.ts";
import { eventually } from "../support/time.ts";
import { answerOf, type Format, FORMATS, onGateway } from "./other_models_rig.ts";

const OTHERS = {
  chat: { models: ["large-1"] },
  messages: { fallbacks: [{ model: "large-1" }] },
  responses: { models: ["large-1"] },
};

for (const format of Object.keys(FORMATS) as Format[]) {
  for (const stream of [false, true]) {
    Deno.test(`${format}, ${stream ? "streamed" : "whole"}: the payload names the model that answered`, async () => {
      const folder = await Deno.makeTempDir();
      try {
        await onGateway(
          (format) => answerOf(format, "large-1", { input_tokens: 100, output_tokens: 10 }, stream),
          async ({ gateway, ask }) => {
            const response = await ask(format, { stream, ...OTHERS[format] });
            await response.text();
            const path = `/admin/generations/${response.headers.get("x-request-id")}/payload`;
            const payload = await eventually(async () => {
              const kept = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${ADMIN}` } });
              const json = await kept.json();
              return kept.ok ? json : null;
            });
            assertEquals([payload.model, payload.answer.model], [`${format}/large`, `${format}/large`]);
          },
          {
            admin_key: ADMIN,
            payloads: { to: `file:${folder}`, key: PAYLOAD_KEY },
            keys: [{ name: "kept", secret: SECRET, payloads: true }],
          },
        );
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    });
  }
}
