/** What a gateway is there for, done by official clients, and its end: whatever started it, this is what has to work. */
import Anthropic from "@anthropic-ai/sdk";
import { assert, assertEquals } from "@std/assert";
import OpenAI from "openai";
import { eventually } from "./time.ts";

export interface Started {
  url: string;
  secret: string;
  adminKey: string;
  /** Served by the demo provider, which repeats the question, a word every 20 ms. */
  model: string;
  /** Asks it to end, as whoever runs it does. */
  stop(): void | Promise<unknown>;
  /** Its exit status. */
  ended: Promise<number>;
  /** Where the gateway can be asked beside a proxy; absent: at `url`. */
  direct?: string;
}

/** Of a generation, what was billed. */
export interface Bill {
  id: string;
  status: string;
  cost: string;
  usage: { output_tokens: number };
}

/** More words than are said before a signal has arrived. */
const LONG = Array.from({ length: 60 }, (_, i) => `word${i}`).join(" ");

/**
 * A whole call, streams in the three formats, their bills, and an end that waits for the stream under way.
 * @returns ids of all generations, each of which must be in the ledger now
 */
export async function doesItsJob(started: Started): Promise<string[]> {
  const { url, secret, adminKey, model, stop, ended, direct = url } = started;
  const openai = new OpenAI({ apiKey: secret, baseURL: `${url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: secret, baseURL: url, maxRetries: 0 });
  const ids: string[] = [];
  const user = (content: string) => [{ role: "user" as const, content }];

  const whole = await openai.chat.completions.create({ model, messages: user("Good morning") });
  assert(whole.choices[0].message.content!.includes("Good morning"), JSON.stringify(whole));
  assert(whole.usage!.completion_tokens > 0);
  ids.push(whole.id);

  const message = await anthropic.messages.stream({
    model,
    max_tokens: 100,
    messages: user("Good day"),
  }).finalMessage();
  assert(JSON.stringify(message.content).includes("Good day"), JSON.stringify(message));
  ids.push(message.id);

  let response: OpenAI.Responses.Response | undefined;
  for await (const event of await openai.responses.create({ model, input: "Good evening", stream: true })) {
    if (event.type === "response.completed") response = event.response;
  }
  assert(response?.output_text ?? JSON.stringify(response).includes("Good evening"));
  ids.push(response!.id);

  const bills: Bill[] = [];
  await eventually(async () => {
    const answer = await fetch(`${direct}/admin/generations?limit=50`, {
      headers: { authorization: `Bearer ${adminKey}` },
    });
    assertEquals(answer.status, 200, await answer.clone().text());
    // The store may hold bills of an earlier start.
    bills.splice(0, bills.length, ...(await answer.json()).data);
    return ids.every((id) => billOf(id, bills) !== undefined);
  });
  assertBilled(ids, bills);
  for (const { usage } of bills) assert(usage.output_tokens > 0, JSON.stringify(bills));

  const stream = await openai.chat.completions.create({ model, messages: user(LONG), stream: true });
  let text = "";
  let finish: string | null = null;
  let stopping: unknown;
  for await (const { id, choices } of stream) {
    text += choices[0]?.delta.content ?? "";
    finish = choices[0]?.finish_reason ?? finish;
    if (stopping === undefined && text !== "") {
      ids.push(id);
      stopping = stop() ?? null;
    }
  }
  assert(text.includes(LONG), text);
  assertEquals(finish, "stop");
  await stopping;
  assertEquals(await ended, 0);
  return ids;
}

/** All of them were billed, whatever else was. */
export function assertBilled(ids: readonly string[], bills: readonly Bill[]): void {
  for (const id of ids) {
    const bill = billOf(id, bills);
    assertEquals(bill?.status, "completed", `${id} in ${JSON.stringify(bills)}`);
    assert(Number(bill!.cost) > 0, JSON.stringify(bill));
  }
}

/** The formats write their own prefix before the same id. */
function billOf(id: string, bills: readonly Bill[]): Bill | undefined {
  const bare = (id: string) => id.replace(/^.*_/, "");
  return bills.find((bill) => bare(bill.id) === bare(id));
}
