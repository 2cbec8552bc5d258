/** Answers of Converse, whole and as a stream of the same, up to what clients of the messages format are told. */
import { assertEquals, assertThrows } from "@std/assert";
import type Anthropic from "@anthropic-ai/sdk";
import { collect } from "../../../src/exchange/answer.ts";
import { Failure } from "../../../src/exchange/failure.ts";
import { array, type Loose, object } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { converse } from "../../../src/formats/converse/mod.ts";
import { checkConverseRequest } from "../../corpus/check_converse_request.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import { convert, decode } from "../conversions.ts";
import { assistant, decodeRequest, encodeWhole } from "../messages/support.ts";

const CLAUDE = "us.anthropic.claude-sonnet-5";

type Event = [name: string, body: Loose];

function whole(content: readonly Loose[]): Part[] {
  return converse.decodeAnswer({
    output: { message: { role: "assistant", content } },
    stopReason: "end_turn",
    usage: { inputTokens: 20, outputTokens: 9, totalTokens: 29 },
  });
}

function streamed(events: readonly Event[]): Part[] {
  const decoder = converse.decodeStream("us.anthropic.claude-sonnet-5");
  const parts: Part[] = [];
  const all: Event[] = [["messageStart", { role: "assistant" }], ...events, ["messageStop", {
    stopReason: "end_turn",
  }]];
  for (const [event, body] of all) decoder.push({ event, data: JSON.stringify(body) }, parts);
  decoder.end(parts);
  return parts;
}

const delta = (value: Loose): Event => ["contentBlockDelta", { contentBlockIndex: 0, delta: value }];

const LOCATIONS: [location: Loose, citation: Anthropic.TextCitation][] = [
  [{ documentChar: { documentIndex: 1, start: 5, end: 9 } }, {
    type: "char_location",
    cited_text: "words",
    document_index: 1,
    document_title: "T",
    file_id: null,
    start_char_index: 5,
    end_char_index: 9,
  }],
  [{ documentPage: { documentIndex: 0, start: 3, end: 4 } }, {
    type: "page_location",
    cited_text: "words",
    document_index: 0,
    document_title: "T",
    file_id: null,
    start_page_number: 3,
    end_page_number: 4,
  }],
  [{ documentChunk: { documentIndex: 2, start: 0, end: 2 } }, {
    type: "content_block_location",
    cited_text: "words",
    document_index: 2,
    document_title: "T",
    file_id: null,
    start_block_index: 0,
    end_block_index: 2,
  }],
  [{ searchResultLocation: { searchResultIndex: 1, start: 0, end: 1 } }, {
    type: "search_result_location",
    cited_text: "words",
    source: "https://s.test",
    title: "T",
    search_result_index: 1,
    start_block_index: 0,
    end_block_index: 1,
  }],
  [{ web: { url: "https://w.test", domain: "w.test" } }, {
    type: "web_search_result_location",
    cited_text: "words",
    url: "https://w.test",
    title: "T",
    encrypted_index: "",
  }],
  // Without a place in it.
  [{ documentPage: { documentIndex: 1 } }, {
    type: "char_location",
    cited_text: "words",
    document_index: 1,
    document_title: "T",
    file_id: null,
    start_char_index: 0,
    end_char_index: 5,
  }],
];

Deno.test("converse: citations tell clients of the messages format the page, block or character that was cited", () => {
  for (const [location, expected] of LOCATIONS) {
    const source = location.searchResultLocation ? "https://s.test" : "document";
    const citation = { title: "T", source, sourceContent: [{ text: "wo" }, { text: "rds" }], location };
    const answers = [
      whole([{ citationsContent: { content: [{ text: "So" }], citations: [citation] } }]),
      streamed([delta({ text: "So" }), delta({ citation })]),
    ];
    for (const parts of answers) {
      const [block] = array(encodeWhole(parts).content).map(object);
      assertEquals(block, { type: "text", text: "So", citations: [expected] });
    }
  }
});

Deno.test("converse: citations of documents and search results go back to Claude, in the messages that they came in", () => {
  const ask = (content: Loose[], model = CLAUDE, last: Loose[] = [{ role: "user", content: "go on" }]) => {
    const messages = [{ role: "user", content: "q" }, { role: "assistant", content }, ...last];
    const { body } = convert("messages", { max_tokens: 9, messages }, "converse", model);
    checkConverseRequest(body);
    return object(array(body.messages)[1]).content;
  };
  for (const [location] of LOCATIONS.slice(0, 4)) {
    const source = location.searchResultLocation ? { source: "https://s.test" } : {};
    const citation = { title: "T", sourceContent: [{ text: "words" }], ...source, location };
    const block = { citationsContent: { content: [{ text: "So " }], citations: [citation] } };
    const { content } = encodeWhole(whole([{ text: "First " }, block, { text: "then" }]));
    const back = array(content).map(object);
    assertEquals(ask(back), [{ text: "First " }, block, { text: "then" }]);
    // A beginning to go on with is a text.
    assertEquals(ask(back.slice(0, 2), "us.anthropic.claude-sonnet-4-5-v1:0", []), [{ text: "First " }, {
      text: "So",
    }]);
    assertEquals(ask(back, "us.amazon.nova-2-lite-v1:0"), [{ text: "First " }, { text: "So " }, {
      text: "then",
    }]);
  }
  const { content } = encodeWhole(whole([{
    citationsContent: { content: [{ text: "So" }], citations: [{ title: "T", location: LOCATIONS[4][0] }] },
  }]));
  assertEquals(ask(array(content).map(object)), [{ text: "So" }], "a page that a search found");
});

Deno.test("converse: images, sounds and films that an answer holds are told as what they are", () => {
  const made = (type: string, format: string) => {
    const media = { [type]: { format, source: { bytes: "AQ==" } } };
    return collect(whole([media])).choices[0].blocks.map((b) => b.type === "media" ? b.mediaType : b.type);
  };
  assertEquals(made("image", "jpeg"), ["image/jpeg"]);
  assertEquals(made("audio", "mp3"), ["audio/mpeg"]);
  assertEquals(made("audio", "of-tomorrow"), ["audio/of-tomorrow"]);
  assertEquals(made("video", "three_gp"), ["video/3gpp"]);
  assertEquals(made("guardContent", "png"), []);
});

Deno.test("converse: a film that was made is one for callers of the messages format, also when they send it back", () => {
  const film = { video: { format: "mp4", source: { bytes: "AQ==" } } };
  const content = array(encodeWhole(whole([film])).content).map(object);
  assertEquals(content.map((block) => block.text), ["[video](data:video/mp4;base64,AQ==)"]);
  assertEquals(decodeRequest(assistant(...content)).turns[1].content, [
    { type: "video", source: { kind: "base64", mediaType: "video/mp4", data: "AQ==" } },
  ]);
});

Deno.test("converse: an answer whose image could not be made does not end as if nothing was wrong", () => {
  const error = { message: "The image is not allowed." };
  const answers = [
    whole([{ image: { format: "png", source: {}, error } }]),
    streamed([
      ["contentBlockStart", { contentBlockIndex: 0, start: { image: { format: "png" } } }],
      delta({ image: { error } }),
    ]),
  ];
  for (const parts of answers) {
    const { reason, explanation, blocks } = collect(parts).choices[0];
    assertEquals([reason, explanation, blocks], ["content-filter", error.message, []]);
  }
});

Deno.test("converse: pieces of a call that was never announced are a broken answer, not one without calls", () => {
  assertThrows(() => streamed([delta({ toolUse: { input: "{}" } })]), Failure, "before its name");
});

Deno.test("converse: why a filter cut an answer is no text of the model's in the next turn, and what a model refused is", () => {
  const back = (
    message: unknown,
    target: "converse" | "gemini" | "messages" | "responses" | "chat_completions",
  ) =>
    JSON.stringify(
      convert(
        "chat_completions",
        {
          messages: [{ role: "user", content: "q" }, message, { role: "user", content: "go on" }] as Loose[],
        },
        target,
        CLAUDE,
      ).body,
    );
  const context = {
    id: "gen_1",
    created: 1,
    model: () => "m",
    prompt: decode("chat_completions", { model: "acme/one", messages: [{ role: "user", content: "q" }] }),
    seal: () => "sealed",
  };
  const answer = converse.decodeAnswer({
    output: { message: { role: "assistant", content: [{ text: "I may say this" }] } },
    stopReason: "guardrail_intervened",
  });
  const [{ message, finish_reason }] = array(
    chatCompletions.encodeAnswer(collect(answer), context).choices,
  ) as Loose[];
  const { refusal } = object(message);
  assertEquals([refusal, finish_reason], ["A guardrail intervened.", "content_filter"]);
  for (const target of ["converse", "gemini", "messages", "responses"] as const) {
    const sent = back(message, target);
    assertEquals([sent.includes("I may say this"), sent.includes(String(refusal))], [true, false], target);
    assertEquals(
      back({ role: "assistant", content: null, refusal: "I will not." }, target).includes("I will not."),
      true,
    );
  }
  assertEquals(back(message, "chat_completions").includes('"refusal":"A guardrail intervened."'), true);
});
