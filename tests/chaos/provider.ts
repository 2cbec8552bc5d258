/**
 * A program of its own: a provider of three APIs and a search engine, which write down what they said, for whom and when,
 * before they say it. They outlive every gateway that is killed.
 *
 * Argument: the file to write to. Each request carries its number and what is to be done in the text of its prompt:
 * `chaos m=17 p=ok s=0 t=0`. With `t=1` the number is also printed once the answer is out, for whoever wants to kill the
 * gateway just then. A line of the file is `<number> <event> <time> <input> <cached> <output> <reasoning>`.
 */
import { type Api, type Counts, frames, type Say, whole } from "./wire.ts";
import { pause } from "../support/time.ts";

const ORDER = /chaos m=(\d+) p=(\w+) s=(\d+) t=(\d)/;
const RESULTS = /"role":"tool"|"type":"tool_result"|"type":"function_call_output"/g;
const encoder = new TextEncoder();
const file = Deno.openSync(Deno.args[0], { create: true, append: true });
/** Events of webhooks. */
const hooks = Deno.openSync(`${Deno.args[0]}.hooks`, { create: true, append: true });

function note(number: number, event: string, counts?: Counts): void {
  const { input, cached, output, reasoning } = counts ?? { input: 0, cached: 0, output: 0, reasoning: 0 };
  const line = `${number} ${event} ${Date.now()} ${input} ${cached} ${output} ${reasoning}\n`;
  file.writeSync(encoder.encode(line));
}

function apiOf(path: string): Api {
  if (path.endsWith("/chat/completions")) return "openai-chat";
  return path.endsWith("/messages") ? "anthropic-messages" : "openai-responses";
}

function countsOf(number: number, api: Api, last: boolean): Counts {
  const cached = last ? number : 0;
  const output = 1 + (number * 13) % 60;
  return {
    input: 20 + (number * 7) % 40 + cached,
    cached,
    output,
    reasoning: api === "anthropic-messages" ? 0 : Math.min(output, number % 5),
  };
}

async function answer(request: Request): Promise<Response> {
  const url = new URL(request.url);
  if (url.pathname === "/search") return search(url.searchParams.get("q") ?? "");
  const text = await request.text();
  if (url.pathname === "/hook") {
    // Every third is refused at first, and comes again.
    hooks.writeSync(encoder.encode(text.replaceAll("\n", " ") + "\n"));
    return new Response(null, { status: Math.random() < 1 / 3 ? 500 : 200 });
  }
  const order = ORDER.exec(text);
  if (order === null) return new Response("no order", { status: 400 });
  const [number, plan, searches, tell] = [Number(order[1]), order[2], Number(order[3]), order[4] === "1"];
  const api = apiOf(url.pathname);
  const round = text.match(RESULTS)?.length ?? 0;
  const stream = text.includes('"stream":true');
  note(number, "begin");

  const failsNow = plan === "error" || (plan === "searcherror" && round >= searches);
  if (failsNow) {
    note(number, "refused");
    const status = [500, 429, 400][number % 3];
    return Response.json({ error: { type: "invalid_request_error", message: "The plan says so." } }, {
      status,
    });
  }
  const searching = round < searches;
  const usage = plan === "nousage" || plan === "empty" ? null : countsOf(number, api, !searching);
  const say: Say = {
    text: plan === "empty" ? "" : "All is as it should be, and more of it to come. ".repeat(1 + number % 3),
    usage,
    ...(searching && { search: { id: `call_${number}_${round}`, query: `q ${number} ${round}` } }),
  };
  const end = searching ? "calls" : "done";
  const breaks = plan === "break";
  if (!stream) {
    if (plan === "slow") await pause(number % 40);
    const body = JSON.stringify(whole(api, say));
    if (breaks) {
      note(number, "broke");
      return new Response(broken(body.slice(0, body.length / 2)), {
        headers: { "content-type": "application/json" },
      });
    }
    note(number, end, usage ?? undefined);
    if (tell && !searching) setTimeout(() => console.log(number), 0);
    return new Response(body, { headers: { "content-type": "application/json" } });
  }
  const all = frames(api, say);
  const stop = breaks ? Math.ceil(all.length / 2) : all.length;
  let i = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (plan === "slow" || i % 4 === 3) await pause(plan === "slow" ? 1 + number % 9 : 0);
      if (i < stop) {
        // What is reported counts from the moment before it goes out.
        if (i === stop - 1 && !breaks) note(number, end, usage ?? undefined);
        controller.enqueue(encoder.encode(all[i++]));
        if (i === stop && tell && !searching) console.log(number);
      } else if (breaks) {
        note(number, "broke");
        controller.error(new Error("The plan says so."));
      } else controller.close();
    },
    cancel() {
      if (i < stop) note(number, "cut");
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** A body that ends before it is through: its length promises more. */
function broken(text: string): ReadableStream<Uint8Array> {
  let sent = false;
  return new ReadableStream({
    pull(controller) {
      if (sent) return controller.error(new Error("The plan says so."));
      sent = true;
      controller.enqueue(encoder.encode(text));
    },
  });
}

/** Searches whose number ends in 3 fail, however often they are tried. */
function search(query: string): Response {
  const number = Number(query.split(" ")[1]);
  if (number % 10 === 3) return new Response("no", { status: 500 });
  note(number, "found");
  return Response.json({
    results: [{ url: `http://example.test/${number}`, title: "A page", content: "What was looked for." }],
  });
}

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(`listening ${port}`),
  onError: () => new Response(null, { status: 500 }),
}, answer);
