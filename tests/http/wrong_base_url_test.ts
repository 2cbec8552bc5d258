import { assertEquals } from "@std/assert";
import { SECRET, testGateway } from "../support/gateway.ts";

/** Method, path as a client with a wrong base URL asks for it, what it meant, advice, envelope. */
const CASES: readonly [string, string, string, string, "chat" | "messages" | "responses"][] = [
  ["POST", "/v1/v1/messages", "/v1/messages", "Remove /v1 from the base URL.", "messages"],
  ["POST", "/messages", "/v1/messages", "The base URL must end with /v1.", "messages"],
  [
    "POST",
    "/v1/v1/messages/count_tokens",
    "/v1/messages/count_tokens",
    "Remove /v1 from the base URL.",
    "messages",
  ],
  ["POST", "/chat/completions", "/v1/chat/completions", "The base URL must end with /v1.", "chat"],
  [
    "POST",
    "/openai/v1/chat/completions",
    "/v1/chat/completions",
    "Remove /openai from the base URL.",
    "chat",
  ],
  [
    "POST",
    "/v1/chat/completions/chat/completions",
    "/v1/chat/completions",
    "The base URL must end with /v1.",
    "chat",
  ],
  ["POST", "/responses", "/v1/responses", "The base URL must end with /v1.", "responses"],
  ["POST", "/v1/v1/responses", "/v1/responses", "Remove /v1 from the base URL.", "responses"],
  ["GET", "/models", "/v1/models", "The base URL must end with /v1.", "chat"],
  ["GET", "/v1/v1/models/p/model", "/v1/models/p/model", "Remove /v1 from the base URL.", "chat"],
];

Deno.test("a path that belongs to a wrong base URL is answered with the right one, in its surface's envelope", async () => {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } });
  try {
    for (const [method, path, right, advice, surface] of CASES) {
      const response = await fetch(gateway.url + path, {
        method,
        headers: { authorization: `Bearer ${SECRET}` },
        body: method === "POST" ? "{}" : null,
      });
      const body = await response.json();
      assertEquals([response.status, body.error.code], [404, "not_found"], path);
      assertEquals(
        body.error.message,
        `There is no ${method} ${path} here, it is ${method} ${right}. ${advice}`,
      );
      assertEquals(body.type, surface === "messages" ? "error" : undefined, path);
      assertEquals("type" in body.error, surface !== "chat", path);
    }
  } finally {
    await gateway.close();
  }
});

Deno.test("a path that nobody can have meant gets no advice", async () => {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } });
  try {
    for (const path of ["/v1/nothing", "/v1/messages/batches", `/${"a/".repeat(500)}messages`]) {
      const { error } = await (await fetch(gateway.url + path)).json();
      assertEquals(error.message, `There is no GET ${path.slice(0, 200)} here.`);
    }
    // The paths of Gemini's API end as GET /v1/models/{model+} does.
    const gemini = "/v1beta/models/openai/gpt-5:generateContent";
    const { error } = await (await fetch(gateway.url + gemini, { method: "POST", body: "{}" })).json();
    assertEquals(error.message, `There is no POST ${gemini} here.`);
  } finally {
    await gateway.close();
  }
});

Deno.test("the root says where something is under this configuration", async () => {
  const CASES: [Record<string, unknown>, string][] = [
    [{}, "the manual is at /docs, the API is at /v1."],
    [{ server: { docs: false } }, "the API is at /v1."],
    [
      { admin_key: "admin-key-of-a-test-0123" },
      "the manual is at /docs, the console is at /console, the API is at /v1.",
    ],
  ];
  for (const [config, places] of CASES) {
    const { url, close } = await testGateway({ demo: { api: "demo", url: "" } }, config);
    for (const method of ["GET", "POST"]) {
      const response = await fetch(`${url}/`, { method });
      const { error } = await response.json();
      assertEquals([response.status, error.message], [404, `There is no ${method} / here: ${places}`]);
    }
    await close();
  }
});
