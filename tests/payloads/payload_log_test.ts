import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { eventually } from "../support/time.ts";
import { keeping } from "./support.ts";
import { SECRET } from "../support/gateway.ts";

const CANARY = "canary-7f3a-of-the-prompt";
const CHAT = { model: "p/model", messages: [{ role: "user", content: `Hello ${CANARY}` }] };
const MESSAGES = { model: "p/model", max_tokens: 50, messages: CHAT.messages };
const RESPONSES = { model: "p/model", input: `Hello ${CANARY}` };

const CALLS = [
  ["/v1/chat/completions", CHAT],
  ["/v1/messages", MESSAGES],
  ["/v1/responses", RESPONSES],
] as const;

Deno.test("a call of each format, whole and streamed, is kept encrypted, and read back by the administration", () =>
  keeping({}, async ({ gateway, kept, bytes, payload }) => {
    for (const [path, body] of CALLS) {
      for (const stream of [false, true]) {
        const response = await gateway.post(path, { ...body, stream });
        const said = await response.text();
        assertEquals(response.status, 200, said);
        const id = response.headers.get("x-request-id")!;
        const found = await eventually(async () => {
          const answer = await payload(id);
          return answer.status === 404 ? null : answer;
        });
        assertEquals(found!.status, 200);
        const { request, answer, status, key, error } = found!.json;
        assertEquals({ status, key, error }, { status: "completed", key: "test", error: null });
        assertEquals(request, { ...body, stream });
        if (!stream) {
          const whole = JSON.parse(said);
          const text = (json: typeof whole) =>
            json.choices?.[0].message.content ?? json.content?.[0].text ?? json.output[0].content[0].text;
          assertEquals(text(answer), text(whole));
        }
        assertStringIncludes(JSON.stringify(answer), "usage");
      }
    }
    await kept(6);
    const all = await bytes();
    assert(!all.includes(CANARY) && !all.includes("messages"));
  }));

Deno.test("nothing is kept of keys that do not ask for it, nor without a section", async () => {
  await keeping({ keys: [{ name: "test", secret: SECRET }] }, async ({ gateway, files }) => {
    await (await gateway.post("/v1/chat/completions", CHAT)).text();
    await gateway.gateway.idle();
    assertEquals(await files(), []);
  });
  await keeping({ payloads: null }, async ({ gateway, files, payload }) => {
    const response = await gateway.post("/v1/chat/completions", CHAT);
    await response.text();
    assertEquals(await files(), []);
    const { status, json } = await payload(response.headers.get("x-request-id")!);
    assertEquals(status, 404);
    assertMatch(json.error.message, /payload log is off/);
  });
});

Deno.test("a policy of data-loss prevention and an access policy make calls be kept; team's too", async () => {
  const policies = {
    dlp_policies: { kept: { mode: "alert", payloads: true } },
    access_policies: { kept: { payloads: true } },
  };
  for (
    const [keys, teams] of [
      [{ dlp_policy: "kept" }, []],
      [{ access_policy: "kept" }, []],
      [{ team: "t" }, [{ name: "t", dlp_policy: "kept" }]],
      [{ team: "t" }, [{ name: "t", access_policy: "kept" }]],
    ] as const
  ) {
    await keeping(
      { ...policies, teams, keys: [{ name: "test", secret: SECRET, ...keys }] },
      async ({ gateway, kept }) => {
        await (await gateway.post("/v1/chat/completions", CHAT)).text();
        await kept(1);
      },
    );
  }
});

Deno.test("masked values stay masked in what is kept, also where the caller gets them back", () =>
  keeping({
    dlp: { restore: true },
    dlp_policies: { mask: { mode: "mask", entity_types: ["EMAIL_ADDRESS"], payloads: true } },
    keys: [{ name: "test", secret: SECRET, dlp_policy: "mask" }],
  }, async ({ gateway, kept, payload }) => {
    const response = await gateway.post("/v1/chat/completions", {
      ...CHAT,
      messages: [{ role: "user", content: "Write to ada.lovelace@example.com" }],
    });
    const said = await response.text();
    assertStringIncludes(said, "ada.lovelace@example.com");
    await kept(1);
    const { json } = await payload(response.headers.get("x-request-id")!);
    assertStringIncludes(JSON.stringify(json.request), "<EMAIL_ADDRESS_1>");
    assertStringIncludes(JSON.stringify(json.answer), "<EMAIL_ADDRESS_1>");
    assert(!JSON.stringify(json).includes("ada.lovelace"));
    assertEquals(json.dlp, { mode: "mask", findings: 1 });
  }, {
    answer: (seen) =>
      Response.json({
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "model",
        choices: [{
          index: 0,
          finish_reason: "stop",
          message: { role: "assistant", content: (seen.body.messages as { content: string }[])[0].content },
        }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
  }));

Deno.test("what data-loss prevention refuses is not kept", () =>
  keeping({
    dlp_policies: { block: { mode: "block", entity_types: ["EMAIL_ADDRESS"], payloads: true } },
    keys: [{ name: "test", secret: SECRET, dlp_policy: "block", payloads: true }],
  }, async ({ gateway, files, kept }) => {
    const refused = await gateway.post("/v1/chat/completions", {
      ...CHAT,
      messages: [{ role: "user", content: "Write to ada.lovelace@example.com" }],
    });
    await refused.body?.cancel();
    assertEquals(refused.status, 403);
    await (await gateway.post("/v1/chat/completions", CHAT)).text();
    await kept(1);
    await gateway.gateway.idle();
    assertEquals((await files()).length, 1);
  }));

Deno.test("a call that the provider fails is kept with its error", () =>
  keeping({}, async ({ gateway, kept, payload }) => {
    const response = await gateway.post("/v1/chat/completions", CHAT);
    await response.text();
    assertEquals(response.status, 502);
    await kept(1);
    const { json } = await payload(response.headers.get("x-request-id")!);
    assertEquals([json.status, json.answer, typeof json.error.code], ["failed", null, "string"]);
    assertEquals(json.request, CHAT);
  }, { answer: () => new Response("broken", { status: 500 }) }));

Deno.test("every reading is in the audit log, also of what is not there; no id leads out of the folder", () =>
  keeping({}, async ({ gateway, payload, kept, folder }) => {
    const response = await gateway.post("/v1/chat/completions", CHAT);
    await response.text();
    await kept(1);
    const id = response.headers.get("x-request-id")!;
    await Deno.writeTextFile(`${folder}/outside`, "nobody reads this");
    for (
      const wrong of [
        "gen_0",
        "..%2f..%2foutside",
        "%2e%2e%2foutside",
        `${id}%00`,
        id.replace("gen_", "gen-"),
        "gen_" + "f".repeat(32),
      ]
    ) {
      assertEquals((await payload(wrong)).status, 404, wrong);
    }
    assertEquals((await payload(id)).status, 200);
    const audit = await fetch(`${gateway.url}/admin/audit?kind=admin`, {
      headers: { authorization: "Bearer the-admin-key-of-tests" },
    }).then((answer) => answer.json());
    const reads = audit.data.filter((entry: { action: string }) => entry.action === "payload.read");
    assertEquals(reads[0].fields, { generation: id });
    assertEquals(reads.length, 6);
  }));

Deno.test("what was cut, changed, moved or encrypted with another key is said to be so", () =>
  keeping({}, async ({ gateway, kept, payload, files }) => {
    const ids: string[] = [];
    for (let i = 0; i < 2; i++) {
      const response = await gateway.post("/v1/chat/completions", CHAT);
      await response.text();
      ids.push(response.headers.get("x-request-id")!);
    }
    await kept(2);
    const [file, other] = await files();
    const id = file.split("/").at(-1)!;
    const whole = await Deno.readFile(file);
    const damages: Record<string, Uint8Array> = {
      "cut at its end": whole.slice(0, -1),
      "cut in its head": whole.slice(0, 10),
      empty: new Uint8Array(),
      "a byte changed": whole.map((byte, i) => i === whole.length - 20 ? byte ^ 1 : byte),
      "its nonce changed": whole.map((byte, i) => i === 14 ? byte ^ 1 : byte),
      "its version changed": whole.map((byte, i) => i === 4 ? 9 : byte),
      "another's content": await Deno.readFile(other),
    };
    for (const [name, bytes] of Object.entries(damages)) {
      await Deno.writeFile(file, bytes);
      const { status, json } = await payload(id);
      assertEquals(status, 500, name);
      assertMatch(json.error.message, /is damaged/, name);
    }
    await Deno.writeFile(file, whole.map((byte, i) => i === 6 ? byte ^ 1 : byte));
    assertMatch((await payload(id)).json.error.message, /another key \([\da-f]{16}\)/);
    await Deno.writeFile(file, whole);
    assertEquals((await payload(id)).status, 200);
  }));
