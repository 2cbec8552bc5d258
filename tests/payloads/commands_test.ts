/** `sluice payload` and `sluice replay` as an operator runs them. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { runProgram, serveProgram } from "../support/program.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually } from "../support/time.ts";
import { filesUnder } from "./support.ts";

const SECRET = "sk_live_replayreplayreplayreplay0001";

Deno.test("a payload is printed and replayed: text, tool calls, tokens, price and time are compared", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-replay-" });
  let text = "first\nsame";
  const provider = loopbackProvider((seen) => {
    if (seen.text === "" || seen.body.model !== "m") return leastAnswer(seen);
    return Response.json({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{
        index: 0,
        finish_reason: "tool_calls",
        message: {
          role: "assistant",
          content: text,
          tool_calls: [{
            id: "t",
            type: "function",
            function: { name: "look", arguments: `{"at":"${text.slice(0, 5)}"}` },
          }],
        },
      }],
      usage: { prompt_tokens: 10, completion_tokens: text.length, total_tokens: 10 + text.length },
    });
  });
  const route = (id: string, model: string) => ({
    id,
    routes: [{ provider: "up", model }],
    pricing: { prompt: "0.01", completion: "0.01" },
    capabilities: { features: ["tools"] },
  });
  await Deno.writeTextFile(
    `${folder}/sluice.json`,
    JSON.stringify({
      server: { port: 0 },
      catalog: { discover: false },
      store: { url: "sqlite:./store.db" },
      providers: { up: { api: "openai-chat", base_url: `${provider.url}/v1`, api_key: "k" } },
      models: [route("a/m", "m"), route("a/other", "other")],
      payloads: { to: "file:./payloads", key: "a key of payloads" },
      keys: [{ name: "test", secret: SECRET, payloads: true }],
    }),
  );
  const serving = await serveProgram(["serve", "--config", "sluice.json"], { cwd: folder });
  const run = (...args: string[]) => runProgram([...args, "--config", "sluice.json"], { cwd: folder });
  try {
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
    const response = await fetch(`${serving.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${SECRET}` },
      body: JSON.stringify({ model: "a/m", messages: [{ role: "user", content: "say it" }], tools }),
    });
    await response.text();
    const id = response.headers.get("x-request-id")!;
    await eventually(async () => (await filesUnder(`${folder}/payloads`).catch(() => [])).length === 1);

    const printed = await run("payload", id);
    assertEquals(printed.code, 0, printed.err);
    assertEquals(JSON.parse(printed.out).request.messages[0].content, "say it");

    text = "other\nsame";
    const replayed = await run("replay", id, "--url", serving.url, "--key", SECRET);
    assertEquals(replayed.code, 0, replayed.err);
    for (const line of ["- first", "+ other", "  same", '- look({"at":"first"})', '+ look({"at":"other"})']) {
      assertStringIncludes(replayed.out, `${line}\n`.trimEnd());
    }
    // What a model says may not command the terminal.
    text = "\x1b]0;title\x07\x9b31m\u202ered";
    const hostile = await run("replay", id, "--url", serving.url, "--key", SECRET);
    assertStringIncludes(hostile.out, "+ \\u001b]0;title\\u0007\\u009b31m\\u202ered\n");
    text = "other\nsame";
    assertMatch(replayed.out, /^price\s+0\.20\s+0\.20$/m);
    assertMatch(replayed.out, /^milliseconds\s+\d+\s+\d+/m);

    const other = await run(
      "replay",
      id,
      "--url",
      serving.url,
      "--key",
      SECRET,
      "--model",
      "a/other",
      "--json",
    );
    const { before, after } = JSON.parse(other.out);
    assertEquals([before.model, before.calls.length, after.model, after.calls, after.text], [
      "a/m",
      1,
      "a/other",
      [],
      "hi",
    ]);
    assertEquals([after.input, after.output, after.cost], [3, 1, "0.04"]);

    const refused = await run("replay", id, "--url", serving.url, "--key", SECRET, "--model", "a/none");
    assertMatch(refused.out, /^error\s+none\s+status 404/m);
    // A script must see that there was nothing to compare.
    assertEquals([other.code, refused.code], [0, 1]);

    const missing = await run("payload", "gen_0");
    assertEquals([missing.code, missing.out], [2, ""]);
    assertMatch(missing.err, /There is no payload of "gen_0"/);
    const keyless = await run("replay", id, "--url", serving.url);
    assertEquals(keyless.code, 2);
    assertMatch(keyless.err, /expected an API key as --key or SLUICE_KEY/);
    for (const { out, err } of [printed, replayed, other]) assert(!(out + err).includes(SECRET));
  } finally {
    serving.kill("SIGTERM");
    await serving.ended;
    await provider.close();
    await Deno.remove(folder, { recursive: true });
  }
});
