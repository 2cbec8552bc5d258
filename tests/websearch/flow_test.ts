/**
 * Nothing is held back: what a round says, and that a search begins and ends, reach the caller as they happen. Each step of
 * the provider and of the engine waits until the caller has seen the step before; whatever is buffered would stand still.
 */
import { assert, assertEquals } from "@std/assert";
import { inTime } from "../support/time.ts";
import { type Cell, CELLS, hitsOf, openSearchRig, type Script, searchCall, type SearchRig } from "./rig.ts";
import { type Round, type SearchedApi, streamOf } from "./rounds.ts";

const STREAMS = CELLS.filter((cell) => cell.stream);

/** A caller's view of a stream: what came so far, and what it is waited for. */
class View {
  text = "";
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();

  saw(words: string): Promise<void> {
    if (this.text.includes(words)) return Promise.resolve();
    const found = this.#waiting.get(words) ?? Promise.withResolvers<void>();
    this.#waiting.set(words, found);
    return found.promise;
  }

  async read(response: Response): Promise<string> {
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      this.text += piece;
      for (const [words, found] of this.#waiting) if (this.text.includes(words)) found.resolve();
    }
    return this.text;
  }
}

/** A round's stream whose pieces wait for the caller. @param gates words of a piece, and what it waits for */
function gated(api: SearchedApi, round: Round, gates: Record<string, () => Promise<unknown>>): Response {
  async function* pieces() {
    for (const piece of streamOf(api, round)) {
      for (const [words, gate] of Object.entries(gates)) if (piece.includes(words)) await gate();
      yield piece;
    }
  }
  const body = ReadableStream.from(pieces()).pipeThrough(new TextEncoderStream());
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

async function inStreams(
  config: Record<string, unknown>,
  work: (rig: SearchRig, cell: Cell, view: View) => Promise<void>,
): Promise<void> {
  const rig = await openSearchRig(config);
  try {
    for (const cell of STREAMS) {
      const view = new View();
      const what = () => `${cell.caller} by ${cell.api} goes on after: ${view.text.slice(-600)}`;
      await inTime(work(rig, cell, view), { what });
    }
  } finally {
    await rig.close();
  }
}

/** What shows that a search has begun; chat-completions has no word for it. */
const BEGUN = { chat_completions: "Look", messages: "server_tool_use", responses: "svc:web_search" };
const ANSWER: Round = { text: "One two.", usage: { input: 1, output: 1 } };

function script(cell: Cell, view: View, calls: (ticket: string) => Round["calls"], found: string[]): Script {
  return {
    async answer(round, _, ticket) {
      if (round === 0) {
        const searching = { text: "Look here.", calls: calls(ticket), usage: { input: 1, output: 1 } };
        return gated(cell.api, searching, {
          "here.": () => view.saw("Look"),
          "web_search": () => view.saw("here."),
        });
      }
      for (const words of found) await view.saw(encodeURIComponent(words));
      return gated(cell.api, ANSWER, { "two.": () => view.saw("One") });
    },
  };
}

Deno.test("a stream shows text and searches as they happen, in every cell", async () => {
  await inStreams({}, async (rig, cell, view) => {
    rig.engine(async (query) => {
      await view.saw(BEGUN[cell.caller]);
      return hitsOf(query);
    });
    const asked = rig.ask(cell, script(cell, view, (ticket) => [searchCall(`${ticket} it`)], [" it"]));
    const text = await view.read((await asked).response);
    const order = ["Look", "here.", "site.test", "One", "two."].map((words) => text.indexOf(words));
    assert(order[0] > 0);
    assertEquals(order, order.toSorted((a, b) => a - b));
  });
});

Deno.test("a stream shows searches side by side as each starts and ends, in every cell", async () => {
  await inStreams({}, async (rig, cell, view) => {
    const second = Promise.withResolvers<void>();
    rig.engine(async (query) => {
      if (query.endsWith("first")) {
        // Both are asked at once, and the second ends before the first.
        await second.promise;
        await view.saw("second-found");
      } else {
        second.resolve();
        if (cell.caller !== "chat_completions") {
          await view.saw("first");
          await view.saw("second");
        }
      }
      const url = `https://site.test/${query.replaceAll(" ", "-")}-found`;
      return Response.json({ results: [{ url, title: "t", content: "c" }] });
    });
    const calls = (ticket: string) => [searchCall(`${ticket} first`, 0), searchCall(`${ticket} second`, 1)];
    const { response } = await rig.ask(cell, script(cell, view, calls, []));
    await view.read(response);
  });
});

Deno.test("a stream is kept alive while a search runs, in every caller format", async () => {
  await inStreams({ server: { keepalive_seconds: 0.02 } }, async (rig, cell, view) => {
    const sign = cell.caller === "messages" ? "event: ping" : ": keep-alive";
    rig.engine(async (query) => {
      await view.saw(BEGUN[cell.caller]);
      await view.saw(sign);
      return hitsOf(query);
    });
    const calls = (ticket: string) => [searchCall(`${ticket} it`)];
    const { response } = await rig.ask(cell, script(cell, view, calls, []));
    const text = await view.read(response);
    // On a slow machine the first sign comes before the first word.
    assert(text.includes(sign) && text.includes("two."), text);
  });
});
