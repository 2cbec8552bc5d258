/** The code that the playground shows does what the playground does: it is run as it stands, with the official clients. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { codeOf } from "../../src/console/page/playground/code.js";
import { hasBegun, nothingSaid, readWhole, takeEvent } from "../../src/console/page/playground/answers.js";
import { requestOf, SAMPLE_TOOLS } from "../../src/console/page/playground/requests.js";
import manifest from "../../deno.json" with { type: "json" };
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";

const FORMATS = ["chat", "messages", "responses"] as const;
const PATHS = { chat: "/v1/chat/completions", messages: "/v1/messages", responses: "/v1/responses" };
const WISH = {
  model: "demo/model",
  system: "Be 'brief'",
  prompt: 'Say it\'s "fine" $HOME `x` \\n',
  maxTokens: 200,
  stream: false,
  search: false,
  dlp: "alert",
  tools: "",
  image: null,
};

async function run(program: string, args: string[]): Promise<string> {
  const { stdout, stderr, success } = await new Deno.Command(program, {
    args,
    cwd: new URL("../..", import.meta.url).pathname,
    env: { SLUICE_API_KEY: SECRET, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
  }).output();
  const text = new TextDecoder().decode(stdout);
  assert(success, `${text}\n${new TextDecoder().decode(stderr)}`);
  return text;
}

for (const format of FORMATS) {
  Deno.test(`${format}: curl and JavaScript run as they stand, streamed and whole`, async () => {
    const gateway = await testGateway({ demo: { api: "demo", url: "" } });
    const folder = await Deno.makeTempDir();
    // The clients are packages of the tests alone.
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ imports: manifest.scopes["./tests/"] }));
    try {
      for (const stream of [false, true]) {
        const body = requestOf(format, { ...WISH, stream });
        const curl = codeOf("curl", format, body, gateway.url);
        assertStringIncludes(await run("sh", ["-c", `${curl} -sS`]), "fine");
        const file = `${folder}/${stream}.mjs`;
        await Deno.writeTextFile(file, codeOf("javascript", format, body, gateway.url));
        const said = await run(Deno.execPath(), [
          "run",
          "-A",
          "--no-check",
          "--no-lock",
          `--config=${folder}/deno.json`,
          file,
        ]);
        assertStringIncludes(said, "fine");
      }
    } finally {
      await gateway.close();
      await Deno.remove(folder, { recursive: true });
    }
  });

  Deno.test(`${format}: the Python is Python, and a picture's bytes stand in no example`, async () => {
    const image = `data:image/png;base64,${"A".repeat(5000)}`;
    const body = requestOf(format, { ...WISH, stream: true, search: true, tools: SAMPLE_TOOLS, image });
    for (const language of ["curl", "python", "javascript"] as const) {
      const code = codeOf(language, format, body, "http://127.0.0.1:1");
      assert(!code.includes("AAAAAAAA") && code.includes("BASE64_OF_YOUR_IMAGE"), code);
      assert(!code.includes("sk_live_"));
    }
    const code = codeOf("python", format, body, "http://127.0.0.1:1");
    try {
      await run("python3", ["-c", "import ast, sys; ast.parse(sys.argv[1])", code]);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      console.warn("Skipped: there is no Python on this machine.");
    }
  });

  Deno.test(`${format}: an answer says the same streamed and whole, calls of tools too`, async () => {
    const gateway = await testGateway({ demo: { api: "demo", url: "" } });
    try {
      for (const prompt of ["Say fine", "Please call get_weather"]) {
        const wish = { ...WISH, prompt, dlp: "", tools: prompt.includes("call") ? SAMPLE_TOOLS : "" };
        const whole = await gateway.post(PATHS[format], requestOf(format, wish));
        const read = readWhole(format, await whole.json());
        const said = nothingSaid();
        const streamed = await gateway.post(PATHS[format], requestOf(format, { ...wish, stream: true }));
        for (const line of (await streamed.text()).split("\n")) {
          if (line.startsWith("data: {")) takeEvent(format, said, JSON.parse(line.slice(6)));
        }
        assertEquals([said.text, said.calls, said.stop], [read.text, read.calls, read.stop], prompt);
        assertEquals(said.calls.length, wish.tools === "" ? 0 : 1);
        assert(said.text !== "" || said.calls[0].name === "get_weather");
        assert(said.usage !== null && said.model === "demo/model" && said.error === null);
      }
    } finally {
      await gateway.close();
    }
  });

  Deno.test(`${format}: a refusal is shown as text, streamed and whole, and events without content are no output`, async () => {
    const delta = { role: "assistant", content: null, refusal: "I cannot help." };
    const [usage, head] = [{ prompt_tokens: 1, completion_tokens: 4, total_tokens: 5 }, {
      id: "c",
      created: 1,
      model: "m",
    }];
    await using provider = loopbackProvider(({ body: asked }) => {
      const choice = { index: 0, finish_reason: "stop" };
      return asked.stream
        ? sseResponse([
          `data: ${JSON.stringify({ ...head, choices: [{ ...choice, delta }], usage })}\n\n`,
          "data: [DONE]\n\n",
        ])
        : Response.json({ ...head, choices: [{ ...choice, message: delta }], usage });
    });
    await using gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
    const wish = { ...WISH, model: "p/model", dlp: "" };
    const whole = await gateway.post(PATHS[format], requestOf(format, wish));
    assertEquals(readWhole(format, await whole.json()).text, "I cannot help.");
    const said = nothingSaid();
    const streamed = await gateway.post(PATHS[format], requestOf(format, { ...wish, stream: true }));
    const events = (await streamed.text()).split("\n").filter((line) => line.startsWith("data: {"));
    takeEvent(format, said, JSON.parse(events[0].slice(6)));
    const before = hasBegun(said);
    for (const event of events.slice(1)) takeEvent(format, said, JSON.parse(event.slice(6)));
    assertEquals([before, hasBegun(said), said.text], [false, true, "I cannot help."]);
  });
}
