/**
 * Requests that combine every two values of every two documented fields of each caller format, to models of every
 * generation: each is accepted by a checker as strict as the provider, and nothing vanishes without a word.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Failure } from "../../src/exchange/failure.ts";
import type { Loose } from "../../src/exchange/json.ts";
import type { FormatName } from "../../src/exchange/format_name.ts";
import type { EncodeRequest } from "../../src/formats/format.ts";
import { type Caller, CALLERS, decode, encode } from "./conversions.ts";
import { checkModelRequest, TARGETS } from "./check_model_request.ts";
import { pairwise } from "./pairwise.ts";
import type { FieldTable, FieldValue } from "./field_values.ts";
import { FIELDS } from "./request_fields.ts";

Deno.test("pairwise() has every pair of values in some row", () => {
  const sizes = [3, 2, 5, 4];
  const rows = pairwise(sizes);
  for (let a = 0; a < sizes.length; a++) {
    for (let b = a + 1; b < sizes.length; b++) {
      const seen = new Set(rows.map((row) => `${row[a]} ${row[b]}`));
      assertEquals(seen.size, sizes[a] * sizes[b]);
    }
  }
});

/** Rows of values that stand together by chance, the same in each run; a field is left out in every other one. */
function scattered(sizes: readonly number[], count: number): number[][] {
  const values = fc.tuple(...sizes.map((size) => fc.oneof(fc.nat(size - 1), fc.constant(size - 1))));
  return fc.sample(values, { numRuns: count, seed: 15 });
}

/** What is known of a model: nothing, little, and how much it writes and reasons. */
const CONTEXTS: readonly Partial<EncodeRequest>[] = [
  {},
  { features: new Set(["tools"]) },
  { features: new Set(["tools", "response_format"]), maxOutput: 900 },
  {
    features: new Set(["tools", "reasoning", "structured_outputs", "response_format"]),
    efforts: ["low", "high"],
  },
];

/** Fields that every request of a provider has here, and that callers may leave out. */
const NEEDED: Readonly<Record<Caller, Loose>> = {
  chat_completions: {},
  messages: {},
  responses: { store: false, stream: false },
};

function accepts(target: FormatName, model: string, body: Loose): boolean {
  try {
    checkModelRequest(target, model, body);
    return true;
  } catch {
    return false;
  }
}

/** What callers are refused, and why. */
const REFUSED: readonly RegExp[] = [
  /^Cannot read tool_choice/, // The tool is not there.
];

/** Values that belong together: a choice among tools that are there. */
function request(
  table: FieldTable,
  row: readonly number[],
): { body: Loose; values: Map<string, FieldValue> } {
  const body: Loose = {};
  const values = new Map<string, FieldValue>();
  Object.keys(table).forEach((name, column) => {
    const value = table[name][row[column]];
    if (!value) return;
    body[name] = value.value;
    values.set(name, value);
  });
  const tools = body.tools as unknown[] | undefined;
  // Vendors refuse a choice without tools, and a format gives a caller's mistake back as it came.
  if (!tools || tools.length === 0) {
    delete body.tool_choice;
    delete body.parallel_tool_calls;
  }
  return { body, values };
}

/** Bedrock fetches nothing from addresses. */
const FETCHED = /^Cannot send the \w+: Bedrock .* got an address/;

for (const caller of CALLERS) {
  Deno.test(`${caller}: all pairs of fields reach every model in a form that it accepts`, () => {
    const table = FIELDS[caller];
    const required = new Set(
      ["messages", "input", "max_tokens"].filter((name) => caller === "messages" || name !== "max_tokens"),
    );
    const names = Object.keys(table);
    // One value more stands for the field left out.
    const sizes = names.map((name) => table[name].length + (required.has(name) ? 0 : 1));
    const rows = [...pairwise(sizes), ...scattered(sizes, 300)];
    const wrong = new Map<string, string>();
    let checked = 0;
    for (const row of rows) {
      const { body, values } = request(table, row);
      let prompt;
      try {
        prompt = decode(caller, { model: "acme/one", ...body });
      } catch (thrown) {
        assert(thrown instanceof Failure && REFUSED.some((said) => said.test(thrown.message)), `${thrown}`);
        continue;
      }
      for (const [i, [target, model]] of TARGETS.entries()) {
        const own = target === caller;
        // A caller of the same format gets what it sent, right or wrong.
        if (own && !accepts(target, model, { ...body, model, ...NEEDED[caller] })) continue;
        const note = (what: string) => {
          const key = `${target} ${model}: ${what}`;
          if (!wrong.has(key)) wrong.set(key, JSON.stringify(body).slice(0, 1500));
        };
        try {
          const context = CONTEXTS[(checked + i) % CONTEXTS.length];
          const { body: sent, dropped } = encode(prompt, target, model, context);
          checked++;
          checkModelRequest(target, model, sent);
          const written = JSON.stringify(sent);
          for (const [name, { mark }] of values) {
            if (mark !== undefined && !written.includes(mark) && !dropped.includes(name)) {
              note(`${name} vanished`);
            }
          }
        } catch (thrown) {
          if (target === "converse" && FETCHED.test((thrown as Error).message)) continue;
          note((thrown as Error).message.slice(0, 300));
        }
      }
    }
    console.log(`${caller}: ${rows.length} requests, ${checked} conversions, ${wrong.size} kinds wrong`);
    assertEquals([...wrong].slice(0, 12), []);
    assert(checked > 300);
  });
}
