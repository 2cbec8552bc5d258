/** Values that only the question before them names, in the line or the message of another speaker. */
import { assertEquals } from "@std/assert";
import { merge } from "../../src/dlp/merge.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { screenBody, type Verdict } from "../../src/dlp/screen_body.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";

type Format = keyof typeof LEAVES;

const TYPES = ["FINANCIAL", "SECRET", "US_SSN", "PHONE_NUMBER", "DATE_OF_BIRTH"];
const REPLIES: Record<string, [question: string, reply: string, type: string, value: string]> = {
  "security code": ["Thanks! What is your card's CVV?", "737", "CVV", "737"],
  "security code, spoken": ["What's the CVC on the back?", "sure, 0417.", "CVV", "0417"],
  "security code, Spanish": ["¿Cuál es el código de seguridad?", "737", "CVV", "737"],
  "password": ["Which password did you set?", "blue-Heron42", "PASSWORD", "blue-Heron42"],
  "password, German": ["Wie lautet das Passwort?", "Sonne-2041x", "PASSWORD", "Sonne-2041x"],
  "day of birth": ["And your date of birth?", "12/03/1984", "DATE_OF_BIRTH", "12/03/1984"],
  "day of birth, French": ["Votre date de naissance ?", "le 12/03/1984", "DATE_OF_BIRTH", "12/03/1984"],
  "social security": ["What's your SSN?", "it's 078051120", "US_SSN", "078051120"],
  "telephone": ["What is your phone number?", "2025550143", "PHONE_NUMBER", "2025550143"],
  "account": ["Your account number, please?", "12345678901", "US_BANK_NUMBER", "12345678901"],
};
const NONE: [question: string, reply: string][] = [
  ["How many seats do you need?", "737"],
  ["Do you know what a CVV is?", "100 questions about cards"],
  ["What is your card's CVV?", "I do not have it, I am 44"],
  ["Did you forget your password?", "Yes, since Tuesday"],
  ["Is that your date of birth?", "No, the contract is of 2021"],
  [
    "What is your CVV? I ask because a card that was used in more than one shop needs to be verified again today.",
    "737",
  ],
];

const talk: Record<Format, (question: string, reply: string) => Record<string, unknown>> = {
  chat_completions: (question, reply) => ({
    messages: [{ role: "assistant", content: question, name: "desk" }, { role: "user", content: reply }],
  }),
  messages: (question, reply) => ({
    messages: [
      { role: "assistant", content: [{ type: "text", text: question }] },
      { role: "user", content: [{ type: "text", text: reply }] },
    ],
  }),
  responses: (question, reply) => ({
    input: [
      { type: "message", role: "assistant", content: [{ type: "output_text", text: question }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: reply }] },
    ],
  }),
};

function screened(body: unknown, format: Format, mode: "block" | "mask"): Verdict {
  const requestOptions = readRequestOptions({ mode, entity_types: TYPES });
  const check = merge(null, requestOptions, { unscannable: "pass", restore: false });
  const work = screenBody(readLeaves(body, LEAVES[format]), check, { budgetMs: 1000 });
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

for (const format of Object.keys(talk) as Format[]) {
  Deno.test(`${format}: screenBody() finds in a short reply what the question before it names`, () => {
    for (const [what, [question, reply, type, value]] of Object.entries(REPLIES)) {
      const { findings } = screened(talk[format](question, reply), format, "block");
      const at = reply.indexOf(value);
      assertEquals(
        findings.map((
          { entity_type, message_index, start, end },
        ) => [entity_type, message_index, start, end]),
        [[type, 1, at, at + value.length]],
        what,
      );
      const body = talk[format](question, reply);
      assertEquals(screened(body, format, "mask").action, "mask", what);
      assertEquals(
        JSON.stringify(body),
        JSON.stringify(talk[format](question, reply.replace(value, `<${type}_1>`))),
      );
    }
  });

  Deno.test(`${format}: screenBody() finds nothing in replies that hold no value`, () => {
    for (const [question, reply] of NONE) {
      assertEquals(
        screened(talk[format](question, reply), format, "block").findings,
        [],
        `${question} ${reply}`,
      );
    }
  });
}

Deno.test("screenBody() reads a reply behind the message right before it, and no other", () => {
  const messages = [
    { role: "assistant", content: "What is your card's CVV?" },
    { role: "user", content: "One moment." },
    { role: "assistant", content: "Take your time. By the way, your table number is" },
    { role: "user", content: "737" },
  ];
  assertEquals(screened({ messages }, "chat_completions", "block").findings, []);
});
