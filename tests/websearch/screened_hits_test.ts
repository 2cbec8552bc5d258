/** Results of a search are screened on their way to the model by the rules of the request, for every caller and provider. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SECRET } from "../support/gateway.ts";
import { type Cell, CELLS, openSearchRig, type Script, searchCall, type SearchRig } from "./rig.ts";

const JANE = "jane@corp.example";
const BOB = "bob@corp.example";
const CAROL = "carol@corp.example";
const ADMIN = "admin-key-0123456789abcdef";

const USAGE = { input: 10, output: 5 };

const HITS = [
  { url: "https://site.test/one", title: "People", content: `Write to ${BOB} or ${JANE}.` },
  { url: `https://site.test/?of=${CAROL}`, title: `The page of ${CAROL}`, content: "Nothing else." },
  { url: "https://site.test/clean", title: "Clean", content: "No address." },
];

async function screening(
  mode: string,
  work: (rig: SearchRig) => Promise<void>,
  policy: Record<string, unknown> = {},
): Promise<void> {
  const rig = await openSearchRig({
    admin_key: ADMIN,
    dlp_policies: { safe: { mode, entity_types: ["EMAIL_ADDRESS"], ...policy } },
    keys: [{ name: "test", secret: SECRET, dlp_policy: "safe" }],
  });
  rig.engine(() => Response.json({ results: HITS }));
  try {
    await work(rig);
  } finally {
    await rig.close();
  }
}

/** Searches once, then says what the results were. */
function script(more: Record<string, unknown> = {}): Script {
  return {
    answer: (round, _, ticket) =>
      round === 0
        ? { calls: [searchCall(`who ${ticket}`)], usage: USAGE }
        : { text: "Ask <EMAIL_ADDRESS_1>, <EMAIL_ADDRESS_2>.", usage: USAGE },
    more,
  };
}

/** A request of the cell's format that writes JANE's address. */
const naming = ({ caller }: Cell) =>
  caller === "responses"
    ? { input: `TICKET: not ${JANE}` }
    : { messages: [{ role: "user", content: `TICKET: not ${JANE}` }] };

const what = ({ caller, api, stream }: Cell) => `${caller} by ${api}${stream ? " as a stream" : ""}`;

Deno.test("mask: results reach the model with placeholders, one number for each value of the request", () =>
  screening("mask", async (rig) => {
    for (const cell of CELLS) {
      const { response, seen, ticket } = await rig.ask(cell, script(naming(cell)));
      const answer = await response.text();
      assertEquals([response.status, seen.length], [200, 2], what(cell));
      const { text } = seen[1];
      assert(!text.includes("@corp.example"), `${what(cell)}: ${text}`);
      assertStringIncludes(text, `${ticket}: not <EMAIL_ADDRESS_1>`);
      assertStringIncludes(text, "Write to <EMAIL_ADDRESS_2> or <EMAIL_ADDRESS_1>.");
      assertStringIncludes(
        text,
        "[2] The page of <EMAIL_ADDRESS_3>\\nhttps://site.test/?of=<EMAIL_ADDRESS_3>",
      );
      assertStringIncludes(text, "[3] Clean");
      // The caller gets the sources as they are.
      assertStringIncludes(answer, `https://site.test/?of=${CAROL}`);
      // One in the request, two in each of the first two results.
      const record = await rig.record(response);
      assertEquals(record.dlp, { mode: "mask", findings: 5 }, what(cell));
      assertEquals(record.searches, 1);
    }
  }));

Deno.test("mask with restore: placeholders of results become the originals, also where the request has none", () =>
  screening("mask", async (rig) => {
    for (const cell of CELLS) {
      const { response, seen } = await rig.ask(
        cell,
        script({ plugins: { dlp: { mode: "mask", restore: true } } }),
      );
      const answer = await response.text();
      assert(!seen[1].text.includes("@corp.example"), what(cell));
      // In a stream the text comes in pieces.
      const said = [...answer.matchAll(/"(?:content|text|delta)":"((?:[^"\\]|\\.)*)"/g)].map(([, piece]) =>
        piece
      );
      assert(
        answer.includes(`Ask ${BOB}, ${JANE}.`) || said.join("").includes(`Ask ${BOB}, ${JANE}.`),
        `${what(cell)}: ${answer}`,
      );
    }
  }));

Deno.test("block: results with a finding are left out, for the model and as sources", () =>
  screening("block", async (rig) => {
    for (const cell of CELLS) {
      const { response, seen } = await rig.ask(cell, script());
      const answer = await response.text();
      assertEquals([response.status, seen.length], [200, 2], what(cell));
      assert(!seen[1].text.includes("@corp.example"), what(cell));
      assertStringIncludes(seen[1].text, "[1] Clean");
      assert(!answer.includes("site.test/one") && answer.includes("site.test/clean"), answer);
      assertEquals((await rig.record(response)).searches, 1, "the search has run, and is billed");
    }
  }));

Deno.test("alert: results are sent as they are, and counted", () =>
  screening("alert", async (rig) => {
    const [cell] = CELLS;
    const { response, seen } = await rig.ask(cell, script());
    await response.text();
    assertStringIncludes(seen[1].text, BOB);
    assertEquals((await rig.record(response)).dlp, { mode: "alert", findings: 4 });
  }));

Deno.test("findings in results are in the audit log and in the report of a request that asks for it", () =>
  screening("mask", async (rig) => {
    const cell = CELLS.find((cell) => cell.caller === "messages" && !cell.stream)!;
    const { response } = await rig.ask(cell, script({ plugins: { dlp: { mode: "mask" } } }));
    const { details } = await response.json();
    assertEquals(details.findings_count, 4);
    assertEquals(
      new Set(details.dlp.map((one: { location: string }) => one.location)),
      new Set(["search.hits.text", "search.hits.title", "search.hits.url"]),
    );
    assertEquals(response.headers.get("x-svc-dlp-findings"), "4");
    const headers = { authorization: `Bearer ${ADMIN}` };
    const audit = await (await fetch(`${rig.gateway.url}/admin/audit?kind=dlp`, { headers })).json();
    assertEquals(
      audit.data.map(({ of, mode, action, places }: Record<string, unknown>) => ({
        of,
        mode,
        action,
        places,
      })),
      [{
        of: "request",
        mode: "mask",
        action: "masked",
        places: { "search.hits.text": 2, "search.hits.title": 1, "search.hits.url": 1 },
      }],
    );
    assert(!JSON.stringify([audit, details]).includes("@corp.example"));
  }));

Deno.test("placeholders for findings in the answer are none of those of results", () =>
  screening("mask", async (rig) => {
    for (const cell of CELLS.filter(({ api }) => api === "openai-chat")) {
      const { response } = await rig.ask(cell, {
        answer: (round, _, ticket) =>
          round === 0
            ? { text: "Not dave@corp.example. ", calls: [searchCall(`who ${ticket}`)], usage: USAGE }
            : { text: "Nor erin@corp.example.", usage: USAGE },
        more: { plugins: { dlp: { mode: "mask", restore: true } } },
      });
      const answer = await response.text();
      assert(!answer.includes("@corp.example"), `${what(cell)}: ${answer}`);
      const named = [...answer.matchAll(/<EMAIL_ADDRESS_\d>/g)].map(([one]) => one);
      assert(new Set(named).size >= 2, `${what(cell)}: ${answer}`);
    }
  }, { answers: "mask" }));

Deno.test("a report lists a thousand findings at most, and counts all", () =>
  screening("mask", async (rig) => {
    rig.engine(() =>
      Response.json({
        results: Array.from({ length: 20 }, (_, i) => ({
          url: `https://site.test/${i}`,
          title: "People",
          content: Array.from({ length: 60 }, (_, n) => `p${n}@c${i}.example`).join(" "),
        })),
      })
    );
    const cell = CELLS.find((cell) => cell.caller === "messages" && !cell.stream)!;
    const { response } = await rig.ask(cell, {
      answer: (round, _, ticket) =>
        round < 4
          ? { calls: [searchCall(`${round} ${ticket}`)], usage: USAGE }
          : { text: "Yes.", usage: USAGE },
      more: { plugins: { dlp: { mode: "mask" } } },
    });
    const { details } = await response.json();
    assert(details.findings_count > 1000, details.findings_count);
    assertEquals(details.dlp.length, 1000);
  }));
