/** What can be repeated in what is kept, mended, screened, withheld and framed, on the way of a call and beside it. */
import { AnswerText } from "../../../src/dlp/answer_text.ts";
import { unescaped } from "../../../src/dlp/json_text.ts";
import { isWithinPlaceholder, placeholders } from "../../../src/dlp/placeholders.ts";
import { ANSWER_BUDGET, countedInSlices } from "../../../src/exchange/json_budget.ts";
import { jsonPieces } from "../../../src/exchange/json_pieces.ts";
import { parseInSlices } from "../../../src/exchange/parse_in_slices.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { EventStreamReader } from "../../../src/formats/wire/aws_event_stream.ts";
import { compactedOf, keptMessages, summaryRequest } from "../../../src/formats/responses/compaction.ts";
import { withSummaries } from "../../../src/formats/responses/summaries.ts";
import { canonicalDigest } from "../../../src/http/resume/canonical_json.ts";
import { isWithin, networkOf } from "../../../src/exchange/networks.ts";
import { textFrame, WebSocketFrameReader } from "../../../src/transport/websocket/frames.ts";
import { reportFindings } from "../../../src/pipeline/screening/audit_dlp.ts";
import { portionsOf } from "../../../src/pipeline/generation/delivery.ts";
import { labelsOf } from "../../../src/pipeline/admission/labels.ts";
import { Declared } from "../../../src/pipeline/repair/declared.ts";
import { mend } from "../../../src/pipeline/repair/mend.ts";
import { ArgumentScanner } from "../../../src/pipeline/repair/scanner.ts";
import { SplitSecrets } from "../../../src/pipeline/generation/split_secrets.ts";
import { disguises } from "../../../src/outgoing/disguises.ts";
import { proxied, readProxies } from "../../../src/outgoing/proxies.ts";
import { Withheld } from "../../../src/outgoing/withheld.ts";
import { behind, eventsIn, withIds, withoutIds } from "../../../src/resume/event_ids.ts";
import { Kept } from "../../../src/resume/kept.ts";
import { atOnce } from "../../../src/timing/slices.ts";
import { guardOf } from "../../pipeline/screened_parts.ts";
import { type Dimension, times, type Watch } from "./dimension.ts";

const other = (name: string, prepare: (n: number, watch: Watch) => () => unknown): Dimension => ({
  name,
  prepare,
});

function nested(levels: number, inner: unknown): unknown {
  let value = inner;
  for (let i = 0; i < levels; i++) value = i % 2 ? { a: value } : [value];
  return value;
}

/** Values that have more in them in one way or another. */
const VALUES: Readonly<Record<string, (n: number) => unknown>> = {
  "values of a list": (n) => times(n, (i) => i),
  "lists of a list": (n) => times(n, () => [[]]),
  "fields of an object": (n) => Object.fromEntries(times(n, (i) => [`k${i * 7919 % n}`, i])),
  "levels": (n) => nested(Math.min(n, 450), "x"),
  "values below many levels": (n) => nested(400, times(n, (i) => ({ [`k${i}`]: [i, "x"] }))),
  "objects of a list": (n) => times(n, (i) => ({ role: "user", content: `text ${i}` })),
  "characters of a text": (n) => "x\n".repeat(n * 500),
  "long texts": (n) => times(n, () => "x".repeat(2000)),
};

const written: Dimension[] = Object.entries(VALUES).flatMap(([name, make]) => [
  other(`digest: ${name}`, (n, watch) => {
    const value = watch(make(n));
    return () => atOnce(canonicalDigest(value));
  }),
  other(`pieces: ${name}`, (n, watch) => {
    const value = watch(make(n));
    return () => [...jsonPieces(value)].join("");
  }),
]);

const TEXTS: Readonly<Record<string, (n: number) => string>> = {
  "long numbers": (n) => `[${times(n, (i) => `12345678901234567${i}`).join()}]`,
  "long texts of escapes": (n) => JSON.stringify(times(n / 50, () => "\n".repeat(70_000))),
  "escapes of a text": (n) => JSON.stringify('"\\'.repeat(n * 20)),
  "objects": (n) => JSON.stringify(times(n, (i) => ({ a: i, b: { c: "\n" } }))),
  "digits of a text": (n) => JSON.stringify("7".repeat(n * 200)),
  "digits and letters of a text": (n) => JSON.stringify("1234567890123456x".repeat(n * 10)),
  "quotes that do not end": (n) => '"\\"'.repeat(n),
};

const parsed: Dimension[] = Object.entries(TEXTS).flatMap(([name, make]) => [
  other(`parse: ${name}`, (n) => {
    const text = make(n);
    const known = atOnce(countedInSlices(text, ANSWER_BUDGET));
    return () => {
      try {
        return atOnce(parseInSlices(text, known));
      } catch {
        return null;
      }
    };
  }),
  other(`count: ${name}`, (n) => {
    const text = make(n);
    return () => atOnce(countedInSlices(text, ANSWER_BUDGET));
  }),
]);

const SCHEMA = {
  type: "object",
  properties: { a: { type: "array", items: { type: "object", properties: { b: { type: "number" } } } } },
};
const BROKEN: Readonly<Record<string, (n: number) => string>> = {
  "open brackets": (n) => `{"a":${"[".repeat(Math.min(n, 190))}`,
  "missing commas": (n) => `{"a":[${times(n, (i) => `{"b":${i}}`).join(" ")}]}`,
  "missing quotes": (n) => `{"a":[${times(n, (i) => `{b:"${i}"}`).join()}]}`,
  "commas too many": (n) => `{"a":[${"1,,".repeat(n)}]}`,
  "escapes that are none": (n) => `{"a":"${"\\x".repeat(n)}"}`,
  "line breaks in a text": (n) => `{"a":"${"\n".repeat(n)}"}`,
  "backslashes": (n) => `{"a":"${"\\".repeat(n)}`,
  "quotes": (n) => `{"a":${'"'.repeat(n)}}`,
  "blanks": (n) => `{"a":${" ".repeat(n)}`,
  "words": (n) => `{"a":${"True ".repeat(n)}}`,
  "layers of quotes": (n) => '"\\"'.repeat(n),
  "comments": (n) => `{${"/* x */".repeat(n)}}`,
};

const mended: Dimension[] = Object.entries(BROKEN).flatMap(([name, make]) => [
  other(`repair: ${name}`, (n) => {
    const text = make(n);
    return () => mend(text, Declared.of(SCHEMA), { complete: true });
  }),
  other(`scan of arguments, a character each: ${name}`, (n) => {
    const text = make(n);
    return () => {
      const scanner = new ArgumentScanner(Declared.of(SCHEMA));
      for (const character of text) scanner.push(character);
      return scanner.good;
    };
  }),
]);

const KEY = "nvapi-Zz9/quite+plain~key_without-prefix0001";
const HEADERS = { authorization: `Bearer ${KEY}` };

const withheld: Dimension[] = [
  ...Object.entries({
    "escapes": "\\u0041",
    "escaped backslashes": "\\\\u0041",
    "the credential": `${KEY} `,
    "beginnings of the credential": KEY.slice(0, 13),
    "percent-encoding": "%41",
    "base64": "QUJDREVGR0hJSktM",
    "base64 in words": "QUJDREVGR0hJSktM ",
    "hexadecimal": "41424344 ",
    "character references": "&#65;",
    "blanks": " ",
  }).map(([name, piece]) =>
    other(`withheld: ${name}`, (n) => {
      const text = piece.repeat(n * 4);
      return () => {
        const of = new Withheld(HEADERS);
        return [of.answer(text), of.refusal(text), disguises(text, [KEY])];
      };
    })
  ),
  other("secrets in pieces: deltas that begin like one", (n) => {
    const parts: Part[] = [
      { type: "text-start", block: 0, choice: 0 },
      ...times(n, (): Part => ({ type: "text-delta", block: 0, text: KEY.slice(0, 5) })),
      { type: "text-end", block: 0 },
    ];
    return () => new SplitSecrets([KEY]).take(parts);
  }),
  other("secrets in pieces: blocks", (n) => {
    const parts = times(n, (block): Part[] => [
      { type: "text-start", block, choice: 0 },
      { type: "text-delta", block, text: KEY.slice(0, 3) },
      { type: "text-end", block },
    ]).flat();
    return () => new SplitSecrets([KEY]).take(parts);
  }),
];

/** A text of an answer that comes in pieces, as the guard takes it. Each is judged with some kilobytes before it, once there are so many. */
function screened(name: string, piece: (i: number) => string, json: boolean): Dimension {
  const prepare = (n: number) => () => {
    const { rules } = guardOf({}, []);
    const text = new AnswerText("answer.text", json);
    let said = "";
    for (let i = 0; i < n; i++) {
      const start = text.cleared;
      text.append(piece(i));
      const found = text.advance(rules, i === n - 1 ? "all" : "open");
      if (found instanceof Promise) throw new Error("a short text is judged at once");
      said += text.render(start, text.cleared);
      text.forget();
    }
    return said;
  };
  return { name: `answer: ${name}`, prepare, from: 300 };
}

const answers: Dimension[] = [
  screened("words", () => "words and more words in it ", false),
  screened("letters", () => "x".repeat(60), false),
  screened("digits", (i) => String(i % 10).repeat(60), false),
  screened("addresses", (i) => `u${i}@corp.example, `, false),
  screened("JSON", (i) => i === 0 ? '{"a":"' : `card ${i} \\n`, true),
  screened("escapes", (i) => i === 0 ? '{"a":"' : "\\u0041".repeat(40), true),
  other("answer: views of escapes", (n) => {
    const text = `"${"\\u0041\\n".repeat(n * 10)}"`;
    return () => unescaped(text)?.text;
  }),
  other("answer: findings in the record", (n) => {
    const found = times(
      n,
      (i) => ({ category: "regex" as const, type: `r${i}`, location: `answer.calls[${i}]` }),
    );
    const said: unknown[] = [];
    const kit = {
      accounts: { audit: (one: unknown) => said.push(one) },
      metrics: { found() {}, screened() {} },
    };
    return () => {
      said.length = 0;
      reportFindings(
        { id: "g", key: {} as never, of: "answer", mode: "mask", action: "masked", found },
        kit as never,
      );
      return [];
    };
  }),
  other("placeholders: values", (n) => {
    const values = times(n, (i) => `u${i}@corp.example`);
    return () => {
      const made = placeholders(["<EMAIL_ADDRESS_1> ".repeat(n)]);
      const text = values.map((value) => made.of("EMAIL_ADDRESS", "pii", value)).join(" ");
      return isWithinPlaceholder(text, text.length - 5, text.length - 1, made.originals);
    };
  }),
  other("parts of a batch", (n) => {
    const parts = times(n * 20, (): Part => ({ type: "text-delta", block: 0, text: "word " }));
    return () => [...portionsOf(parts)].length;
  }),
];

function masked(frame: Uint8Array, opcode: number): Uint8Array {
  // A mask of zeros leaves the payload as it is.
  const { length } = frame;
  const made = new Uint8Array(length + 4);
  made[0] = opcode;
  made[1] = frame[1] | 128;
  made.set(frame.subarray(2), 6);
  return made;
}

const SILENT = { text() {}, ping() {}, pong() {}, close() {} };

const framed: Dimension[] = [
  other("socket: parts of a message", (n) => {
    const part = masked(textFrame("abc"), 0);
    const first = masked(textFrame("abc"), 1);
    return () => {
      const reader = new WebSocketFrameReader(1 << 24, SILENT);
      reader.push(first, () => true);
      for (let i = 0; i < n * 20; i++) reader.push(part, () => true);
      return reader.kept;
    };
  }),
  other("socket: pings", (n) => {
    const pings = masked(textFrame(""), 0x89);
    const all = new Uint8Array(pings.length * n * 20);
    for (let i = 0; i < n * 20; i++) all.set(pings, i * pings.length);
    return () => new WebSocketFrameReader(1 << 24, SILENT).push(all, () => true);
  }),
  other("event stream: bytes of one message", (n) => {
    // The head of a message of a megabyte, whose checksum is right.
    const head = new Uint8Array([0, 16, 0, 0, 0, 0, 0, 0, 0xd6, 0x46, 0x7b, 0xbf]);
    return () => {
      const reader = new EventStreamReader();
      try {
        reader.push(head, []);
        for (let i = 0; i < n; i++) reader.push(new Uint8Array(8), []);
      } catch {
        // Of a wrong checksum.
      }
      return reader.pending;
    };
  }),
  other("kept streams: events", (n) => {
    const text = "data: x\n\n: ping\n\n".repeat(n);
    return () => {
      const { text: named, events } = withIds(text, { id: "gen_1", first: 0 });
      return [withoutIds(named, "gen_1"), behind(named, events / 2), eventsIn(named)];
    };
  }),
  other("kept streams: streams of a key", (n) => () => {
    const kept = new Kept();
    const open = times(Math.min(n, 10_000), () => kept.open("k"));
    for (const [i, one] of open.entries()) if (one) kept.leave(one, i);
    for (let now = 0; now < 20; now++) kept.sweep(now);
    return kept.all;
  }),
];

const asked: Dimension[] = [
  other("labels: metadata", (n, watch) => {
    const body = watch({ metadata: Object.fromEntries(times(n, (i) => [`k${i}`, "v"])) });
    return () => labelsOf(() => null, body);
  }),
  other("labels: tags of the header", (n) => {
    const header = times(n, (i) => `t${i}=v`).join();
    return () => {
      try {
        return labelsOf((name) => name === "x-svc-tags" ? header : null, {});
      } catch {
        return null;
      }
    };
  }),
  other("compaction: items", (n, watch) => {
    const input = times(n, (i) => ({ type: "message", role: i % 2 ? "user" : "assistant", content: "x" }));
    const body = watch({ model: "m", input, tools: times(n, () => ({ type: "function", name: "f" })) });
    const answer = { output: [{ type: "message", content: [{ type: "output_text", text: "x" }] }] };
    return () => [summaryRequest(body), compactedOf(answer, keptMessages(body.input), ({ data }) => data)];
  }),
  other("compaction: summaries", (n, watch) => {
    const input = times(n, () => ({ type: "compaction", encrypted_content: "x" }));
    const body = watch({ model: "m", input });
    return () => withSummaries(body, () => null);
  }),
  other("proxies: names", (n) => {
    const names = times(n, (i) => `d${i}.example`).join();
    return () => {
      const settings = readProxies((name) => name === "NO_PROXY" ? names : "http://p")!;
      return proxied("https://a.example/", settings);
    };
  }),
  other("networks: addresses", (n) => {
    const texts = times(n, (i) => `10.${i % 256}.0.0/16`);
    return () => isWithin("11.0.0.1", texts.map((text) => networkOf(text)!));
  }),
];

export const OTHERS: readonly Dimension[] = [
  ...written,
  ...parsed,
  ...mended,
  ...withheld,
  ...answers,
  ...framed,
  ...asked,
];
