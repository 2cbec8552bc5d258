/**
 * Values beside escapes and in encodings: every type, every kind of escape, in every place, in all three formats. A value
 * must be found where it stands, masking it must leave JSON JSON, and the masked request must be clean.
 */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { categoryOf, DEFAULT_TYPES } from "../../src/dlp/entities.ts";
import { escapes } from "../../src/dlp/escapes.ts";
import { merge } from "../../src/dlp/merge.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { RECOGNIZERS } from "../../src/dlp/recognizers/list.ts";
import { detector } from "../../src/dlp/scan.ts";
import { screenBody, type Verdict } from "../../src/dlp/screen_body.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";

interface Sample {
  type: string;
  lead: string;
  value: string;
  trail: string;
}

/** What the recognizers' own samples mark, one value each. */
const SAMPLES: Sample[] = RECOGNIZERS.flatMap(({ type, samples }) =>
  samples.found.map((found) => /^([^«]*)«([^»]*)»([^«]*)/.exec(found)!)
    .map(([, lead, value, trail]) => ({ type, lead, value, trail }))
    .slice(0, 2)
);

const hex = (c: string, width: number) => c.charCodeAt(0).toString(16).padStart(width, "0");
const each = (text: string, write: (c: string) => string) =>
  [...text].map((c) => c.charCodeAt(0) < 127 ? write(c) : c).join("");
const wide = (text: string) => Buffer.from(text, "utf16le").toString("base64");

/** Kinds of escape that stand beside a value: what is written before it and behind it. */
const BESIDE: Record<string, [string, string]> = {
  "\\n": ["Note:\\n", "\\nthanks"],
  "\\t": ["Note:\\t", "\\tthanks"],
  "\\r\\n": ["Note:\\r\\n", "\\r\\nthanks"],
  "\\u003e": ["Note\\u003e", "\\u003cthanks"],
  "\\x20": ["Note:\\x20", "\\x20thanks"],
  "\\\\n": ["Note:\\\\n", "\\\\nthanks"],
  "\\\\\\\\n": ["Note:\\\\\\\\n", "\\\\\\\\nthanks"],
  '\\"': ['Note \\"', '\\" thanks'],
  "%20": ["Note:%20", "%20thanks"],
  "%3A": ["Note%3A", "%0Athanks"],
  "%2520": ["Note:%2520", "%2520thanks"],
  "=20": ["Note:=20", "=20thanks"],
  "=0A": ["Note:=0A", "=0Athanks"],
  "&nbsp;": ["Note:&nbsp;", "&nbsp;thanks"],
  "&#10;": ["Note:&#10;", "&#10;thanks"],
  "&#x20;": ["Note:&#x20;", "&#x20;thanks"],
  "&amp;nbsp;": ["Note:&amp;nbsp;", "&amp;nbsp;thanks"],
  "&colon;": ["Note&colon;", "&NewLine;thanks"],
};

/** Ways to write a value, or what names it and the value, otherwise. */
const INSIDE: Record<string, (value: string) => string> = {
  "\\u first": (v) => `\\u${hex(v, 4)}${v.slice(1)}`,
  "\\u all": (v) => each(v, (c) => `\\u${hex(c, 4)}`),
  "\\x all": (v) => each(v, (c) => `\\x${hex(c, 2)}`),
  "% first": (v) => `%${hex(v, 2)}${v.slice(1)}`,
  "% all": (v) => each(v, (c) => `%${hex(c, 2)}`),
  "%25 all": (v) => each(v, (c) => `%25${hex(c, 2)}`),
  "&# all": (v) => each(v, (c) => `&#${c.charCodeAt(0)};`),
  "&amp;#x all": (v) => each(v, (c) => `&amp;#x${hex(c, 2)};`),
  "&shy;": (v) => `${v.slice(0, 3)}&shy;${v.slice(3)}`,
  "&#8203;": (v) => `${v.slice(0, 3)}&#8203;${v.slice(3)}`,
  "\\u200b": (v) => `${v.slice(0, 3)}\\u200b${v.slice(3)}`,
  "C0 control": (v) => `${v.slice(0, 4)}\x02${v.slice(4)}`,
};

/** Runs that stand for the whole; what names the value is inside as well. */
const PACKED: Record<string, (text: string) => string> = {
  base64: (v) => Buffer.from(v).toString("base64"),
  base64url: (v) => Buffer.from(v).toString("base64url"),
  "base64 of base64": (v) => Buffer.from(Buffer.from(v).toString("base64")).toString("base64"),
  hex: (v) => Buffer.from(v).toString("hex"),
  "hex pairs": (v) => Buffer.from(v).toString("hex").replace(/..(?=.)/g, "$& "),
  "0x bytes": (v) => Buffer.from(v).toString("hex").replace(/../g, "0x$&, "),
  base32: (v) => base32(Buffer.from(v)),
  "gzip in base64": (v) => gzipSync(v).toString("base64"),
  "UTF-16 in base64": wide,
  "% in base64": (v) => Buffer.from(each(v, (c) => `%${hex(c, 2)}`)).toString("base64"),
};

function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((b) => b.toString(2).padStart(8, "0")).join("");
  const units = bits.match(/.{1,5}/g) ?? [];
  const text = units.map((u) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[parseInt(u.padEnd(5, "0"), 2)]).join("");
  return text + "=".repeat((8 - text.length % 8) % 8);
}

type Format = keyof typeof LEAVES;

/** Where a text stands in a request of each format, and where its masked form is read. */
// deno-lint-ignore no-explicit-any
type Body = any;
const PLACES: [Format, string, (text: string) => Body, (body: Body) => string][] = [
  [
    "chat_completions",
    "user",
    (t) => ({ messages: [{ role: "user", content: t }] }),
    (b) => b.messages[0].content,
  ],
  [
    "chat_completions",
    "tool",
    (t) => ({ messages: [{ role: "tool", tool_call_id: "c", content: [{ type: "text", text: t }] }] }),
    (b) => b.messages[0].content[0].text,
  ],
  [
    "messages",
    "result",
    (t) => ({
      messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: t }] }],
    }),
    (b) => b.messages[0].content[0].content,
  ],
  [
    "responses",
    "output",
    (t) => ({ input: [{ type: "function_call_output", call_id: "c", output: t }] }),
    (b) => b.input[0].output,
  ],
];

function screened(body: Body, format: Format, type: string, mode: "block" | "mask"): Verdict {
  const check = merge(null, readRequestOptions({ mode, entity_types: [type] }), {
    unscannable: "pass",
    restore: false,
  });
  const work = screenBody(readLeaves(body, LEAVES[format]), check, { budgetMs: 1000 });
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

/** Why a variant of a sample is not screened as it should; null: it is. */
function fault(
  type: string,
  text: string,
  span: [number, number],
  place: typeof PLACES[number],
): string | null {
  const [format, name, body, read] = place;
  const category = categoryOf(type);
  const { findings } = screened(body(text), format, type, "block");
  const fits = findings.some((f) =>
    (f.entity_type === type || category === "secret" && f.category === "secret") && f.start < span[1] &&
    span[0] < f.end
  );
  if (!fits) return `missed in ${name}`;
  const sent = body(text);
  const { action } = screened(sent, format, type, "mask");
  if (action !== "mask") return `not masked in ${name}`;
  const masked = read(sent);
  if (isJson(text) && !isJson(masked)) return `broken JSON in ${name}: ${masked}`;
  return screened(sent, format, type, "block").findings.length === 0 ? null : `still found in ${name}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Written {
  text: string;
  span: [number, number];
  /** What the text says; where nothing is found in that, nothing can be expected. */
  says: string;
}

const foundPlain = new Map<string, boolean>();

function isFoundPlain(type: string, says: string): boolean {
  const key = `${type} ${says}`;
  let known = foundPlain.get(key);
  if (known === undefined) {
    const body = { messages: [{ role: "user", content: says }] };
    foundPlain.set(key, known = screened(body, "chat_completions", type, "block").count > 0);
  }
  return known;
}

/** Runs every sample through one way of writing, in every place by turns and once as JSON. */
function recallOf(write: (sample: Sample) => Written | null): [number, string[]] {
  let right = 0;
  let all = 0;
  const faults: string[] = [];
  SAMPLES.forEach((sample, i) => {
    const written = write(sample);
    if (written === null || !isFoundPlain(sample.type, written.says)) return;
    const variants: [string, [number, number]][] = [[written.text, written.span]];
    const json = JSON.stringify({ id: 7, ticket: written.text });
    variants.push([json, [15, json.length - 2]]);
    variants.forEach(([text, span], k) => {
      all++;
      const why = fault(sample.type, text, span, PLACES[(i + k) % PLACES.length]);
      if (why === null) right++;
      else faults.push(`${sample.type}: ${why}: ${text.slice(0, 160)}`);
    });
  });
  assert(all > SAMPLES.length, `only ${all} variants`);
  return [right / all, faults];
}

const LEAST = 0.97;

for (const [kind, [before, behind]] of Object.entries(BESIDE)) {
  Deno.test(`screenBody() finds values of every type beside ${kind}`, () => {
    const [recall, faults] = recallOf(({ lead, value, trail }) => {
      const start = lead.length + before.length;
      return {
        text: `${lead}${before}${value}${behind}${trail}`,
        span: [start, start + value.length],
        says: `${lead}Note:\n${value}\nthanks${trail}`,
      };
    });
    assert(recall >= LEAST, `${recall}\n${faults.join("\n")}`);
    assert(!faults.some((why) => why.includes("broken JSON")), faults.join("\n"));
  });
}

for (const [kind, write] of Object.entries(INSIDE)) {
  Deno.test(`screenBody() finds values of every type with ${kind}`, () => {
    const [recall, faults] = recallOf(({ lead, value, trail }) => {
      const written = write(value);
      if (written === value || value.includes("\n")) return null;
      const says = `id 7, ticket: ${lead}${value}${trail}`;
      return { text: `${lead}${written}${trail}`, span: [lead.length, lead.length + written.length], says };
    });
    assert(recall >= LEAST, `${recall}\n${faults.join("\n")}`);
    assert(!faults.some((why) => why.includes("broken JSON")), faults.join("\n"));
  });
}

for (const [kind, pack] of Object.entries(PACKED)) {
  Deno.test(`screenBody() finds values of every type in ${kind}`, () => {
    const [recall, faults] = recallOf(({ lead, value, trail }) => {
      const run = pack(`${lead}${value}${trail}`);
      const says = `see ${lead}${value}${trail} there`;
      return { text: `see ${run} there`, span: [4, 4 + run.length], says };
    });
    assert(recall >= LEAST, `${recall}\n${faults.join("\n")}`);
    assert(!faults.some((why) => why.includes("broken JSON")), faults.join("\n"));
  });
}

Deno.test("an escape is read the same in a text of ASCII and behind another character", () => {
  for (let unit = 0; unit < 128; unit++) {
    const text = `12${String.fromCharCode(unit)}4030 n20 u0041 #65; C3=A4 40`;
    const behind = escapes(`é${text}`).map(({ start, end, says }) => ({
      start: start - 1,
      end: end - 1,
      says,
    }));
    assertEquals(escapes(text), behind, `${unit}`);
  }
});

Deno.test("padding of base64 at the end of a line is no soft line break, and makes no text quoted-printable", () => {
  const values: [name: string, value: string][] = [
    ["APP_KEY=base64:", "IaN+jsJEkJxlQZnneRwSbi2hN2+84C5HTcCAO9FV4a0="],
    ["ADMIN_API_KEY=", "224a2f244b261fee9b368fadef2e7ab5"],
    ["AWS_SECRET_ACCESS_KEY=", "2BnIaiZYGlE+cGBe29R92Sqx+DfdvTMlHAHdO9By"],
    ["LDAP_BIND_PASSWORD=", "Winter!2567"],
    ["export NEXT_SECRET=", "RR1bn5Yops5HKY/iuSquu+NJjbX9v+iFfUvrTTX0XpE="],
    ["REDIS_PASSWORD=", "4kOl@xN69*Ul"],
  ];
  const { scan } = detector(DEFAULT_TYPES);
  for (const [line, indent] of [["\n", ""], ["\r\n", ""], ["\n", "  "]]) {
    const text = values.map(([name, value]) => `${indent}${name}${value}${line}`).join("");
    const found = scan(text).map(({ start, end }) => text.slice(start, end));
    assertEquals(found, values.map(([, value]) => value), text);
  }
});
