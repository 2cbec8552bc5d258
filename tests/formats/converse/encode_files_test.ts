/** Sounds and films that come as files or in results: where Converse has a place for them. */
import { assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import { array, type Loose, object } from "../../../src/exchange/json.ts";
import { type Caller, convert } from "../conversions.ts";
import { checkConverseRequest } from "../../corpus/check_converse_request.ts";

const MODEL = "us.amazon.nova-2-lite-v1:0";

/** Blocks of the last message of the request that is sent. */
function last(caller: Caller, body: Loose): unknown {
  const { body: sent, dropped } = convert(caller, body, "converse", MODEL);
  checkConverseRequest(sent);
  assertEquals(dropped, []);
  return object(array(sent.messages).at(-1)).content;
}

const file = (filename: string, type: string, data = "AAAA") =>
  last("responses", {
    input: [{
      role: "user",
      content: [{ type: "input_file", filename, file_data: `data:${type};base64,${data}` }],
    }],
  });

Deno.test("converse: a file that is an image, a sound or a film is sent as such, also where only its name tells", () => {
  const source = { bytes: "AAAA" };
  assertEquals(file("a.mp4", "video/mp4"), [{ video: { format: "mp4", source } }]);
  assertEquals(file("a.mp3", "audio/mpeg"), [{ audio: { format: "mp3", source } }]);
  assertEquals(file("a.png", "image/png"), [{ image: { format: "png", source } }]);
  assertEquals(file("a.mov", "application/octet-stream"), [{ video: { format: "mov", source } }]);
  assertThrows(() => file("a.avi", "video/x-msvideo"), Failure, "Cannot send the video");
});

Deno.test("converse: a film that was made is sent back as one by callers whose format keeps it with images", () => {
  const url = "data:video/mp4;base64,AAAA";
  const messages = [
    { role: "user", content: "Make a film" },
    { role: "assistant", content: "", images: [{ type: "image_url", image_url: { url } }] },
    { role: "user", content: "Longer" },
  ];
  const blocks = last("chat_completions", { messages });
  assertEquals(blocks, [
    { text: "Make a film" },
    { video: { format: "mp4", source: { bytes: "AAAA" } } },
    { text: "Longer" },
  ]);
  const own = convert("chat_completions", { messages }, "chat_completions", "m").body.messages;
  assertEquals(own, messages as Loose[]);
});

Deno.test("converse: sounds in results of tools stand behind all results of the turn", () => {
  const call = (id: string) => ({ id, type: "function", function: { name: "look", arguments: "{}" } });
  const sound = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } };
  const result = (id: string, ...content: Loose[]) => ({ role: "tool", tool_call_id: id, content });
  const blocks = last("chat_completions", {
    messages: [
      { role: "user", content: "Look" },
      { role: "assistant", content: null, tool_calls: [call("a"), call("b")] },
      result("a", sound),
      result("b", { type: "text", text: "B" }, sound),
      { role: "user", content: "Go on" },
    ],
    tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
  });
  const audio = { audio: { format: "wav", source: { bytes: "AAAA" } } };
  assertEquals(blocks, [
    { toolResult: { toolUseId: "a", content: [{ text: "The result is attached." }] } },
    { toolResult: { toolUseId: "b", content: [{ text: "B" }] } },
    { text: "Attached to the result of a:" },
    audio,
    { text: "Attached to the result of b:" },
    audio,
    { text: "Go on" },
  ]);
});
