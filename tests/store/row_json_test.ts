/** Rows as JSON, whichever rows came before them. */
import { assertEquals } from "@std/assert";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { decodeRecord, encodeRecord, type Generation, rowHead } from "../../src/store/mod.ts";
import { contentOfRow, decodeJson } from "../../src/store/records.ts";
import { contentOf } from "../../src/store/chain/links.ts";
import { COLUMNS, encodeRecordAfter } from "../../src/store/records.ts";
import type { Row, Value } from "../../src/store/rows.ts";
import { generation, NOW } from "./samples.ts";

const PLAIN = generation("gen_1", { priceVersion: "file 01", cacheSaved: 0n, toolCalls: 0 });

/** Each differs from the plain one in one field, so that what was remembered of that one must not be taken. */
const VARIANTS: Partial<Generation>[] = [
  {},
  { id: 'odd "id"' },
  { created: NOW + 1 },
  { keyId: "key_2" },
  { key: 'a "name"\\' },
  { account: "other" },
  { format: "responses" },
  { requestedModel: "Ünicode/\u2028" },
  { model: "a/c" },
  { provider: null },
  { provider: "q" },
  { stream: false },
  { status: "failed", errorCode: "provider_unavailable" },
  { estimated: true },
  { usage: null },
  ...Object.keys(NO_USAGE).map((name) => ({ usage: { ...PLAIN.usage!, [name]: 2 ** 50 } })),
  { searches: 3 },
  { cost: 0n },
  { cost: 2n ** 53n },
  { cost: 2n ** 63n - 1n },
  { ttftMs: null },
  { latencyMs: 0 },
  { clientGone: true },
  { dlp: { mode: "mask", findings: 2 } },
  { tags: { team: 'a "b"' } },
  { session: "s" },
  { team: "t" },
  { priceVersion: null },
  { priceVersion: "file 02" },
  { cacheSaved: null },
  { cacheSaved: -(2n ** 60n) },
  { toolCalls: null },
  { toolCalls: null, cacheSaved: null, priceVersion: null },
  { repaired: 1 },
  { steps: '[{"a":1}]' },
  { listCost: 7n },
  { listCost: 2n ** 60n, repaired: 2, steps: "[]" },
];

/** The row as a database would give it back. */
function rowOf({ values }: { values?: readonly Value[] }): Row {
  const cells = COLUMNS.map(([name, type], i): [string, Value] => {
    const value = values![i];
    return [name, value === null || type === "text" ? value : BigInt(value)];
  });
  return Object.fromEntries(cells);
}

Deno.test("encodeRecord() writes each row as it is, whatever it has remembered of others", () => {
  for (const [i, more] of VARIANTS.entries()) {
    for (const g of [PLAIN, { ...PLAIN, ...more }, PLAIN, { ...PLAIN, ...more }]) {
      const record = encodeRecord(g);
      assertEquals(decodeJson(record.json), g, `variant ${i}`);
      assertEquals(contentOf(record.json), contentOfRow(rowOf(record)), `variant ${i}`);
      assertEquals(decodeRecord(record.json).cost, g.cost);
      assertEquals(encodeRecordAfter(rowHead(g), g).json, record.json);
    }
  }
});

Deno.test("encodeRecord() leaves nothing in a row that is no JSON, whatever a clock says", () => {
  for (const odd of [NaN, Infinity, -1, 0.4]) {
    const { json } = encodeRecord({ ...PLAIN, created: odd, ttftMs: odd, latencyMs: odd });
    assertEquals(decodeJson(json), { ...PLAIN, created: 0, ttftMs: 0, latencyMs: 0 });
  }
});
