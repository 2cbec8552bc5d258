import { assert, assertEquals, assertRejects } from "@std/assert";
import Ajv from "ajv/dist/ajv.js";
import { filesUnder } from "../../src/commands/find_files.ts";
import { Lines } from "../../src/commands/lines.ts";
import { type ScanCommand, scanFiles } from "../../src/commands/scan_files.ts";
import type { PolicyRules } from "../../src/dlp/config.ts";

const CARD = "4539578763621486";
const MAIL = "jo.doe@example.com";

const POLICY: PolicyRules = {
  mode: "block",
  answers: "off",
  entityTypes: ["CREDIT_CARD"],
  stopWords: [{ value: "Project Falcon", match: "exact" }],
  patterns: [{ name: "ORDER", pattern: "AB-\\d{4}" }],
  allowed: [],
};

function scan(
  command: Omit<ScanCommand, "form"> & Partial<ScanCommand>,
  onUnscannable: "pass" | "block" = "pass",
) {
  const dlp = { enabled: true, onUnscannable, restore: false } as const;
  return scanFiles({ form: "json", ...command }, { dlp, dlpPolicies: { cards: POLICY } }, "1.2.3");
}

async function inFolder(
  files: Record<string, string | Uint8Array>,
  use: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, content] of Object.entries(files)) {
      await Deno.mkdir(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeFile(
        `${folder}/${name}`,
        typeof content === "string" ? new TextEncoder().encode(content) : content,
      );
    }
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const wide = (text: string, big: boolean) => {
  const bytes = new Uint8Array(2 + text.length * 2);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, 0xfeff, !big);
  [...text].forEach((c, i) => view.setUint16(2 + i * 2, c.charCodeAt(0), !big));
  return bytes;
};

Deno.test("dlp scan tells the line and column of what it finds, in files of any encoding", () => {
  const text = `first\r\nto ${MAIL}\rnext\n\tcard ${CARD}\n`;
  return inFolder({
    "plain.txt": text,
    "marked.csv": "\ufeff" + text,
    "latin.txt": Uint8Array.from(`Gru\u00df ${MAIL} caf\u00e9\n`, (c) => c.charCodeAt(0)),
    "sub/little.txt": wide(text, false),
    "sub/big.txt": wide(text, true),
  }, async (folder) => {
    const output = await scan({ files: [folder] });
    const { findings } = JSON.parse(output.text);
    const places = [];
    for (const { file, line, column, end_line, end_column, entity_type } of findings) {
      places.push(
        `${file.slice(folder.length + 1)}:${line}:${column}-${end_line}:${end_column} ${entity_type}`,
      );
    }
    const both = (file: string) => [
      `${file}:2:4-2:22 EMAIL_ADDRESS`,
      `${file}:4:7-4:23 CREDIT_CARD`,
    ];
    assertEquals(places, [
      "latin.txt:1:6-1:24 EMAIL_ADDRESS",
      ...both("marked.csv"),
      ...both("plain.txt"),
      ...both("sub/big.txt"),
      ...both("sub/little.txt"),
    ]);
    assertEquals(output.status, 1);
    assert(!output.text.includes(CARD) && !output.text.includes(MAIL));
  });
});

Deno.test("dlp scan reads mail, markup and RTF as they stand and as they are shown", () => {
  const cells = [4, 8, 12, 16].map((n) => CARD.slice(n - 4, n));
  const mail = `From: a@b.example\r\nSubject: x\r\nContent-Transfer-Encoding: base64\r\n\r\n`;
  return inFolder({
    "note.eml": `${mail}${btoa(`card ${CARD.replace(/(.{4})/g, "$1 ")} of jane`)}\r\n`,
    "page.html": `<html><body><p>${cells.map((cell) => `<b>${cell}</b>`).join("")}</p></body></html>`,
    "letter.rtf": `{\\rtf1 card ${cells.join("\\fs24 ")} of jane}`,
    "whole.html": `<p>card ${CARD}</p>`,
    "plain.txt": `card ${CARD}`,
  }, async (folder) => {
    const { findings } = JSON.parse((await scan({ files: [folder], policy: "cards" })).text);
    const told = new Map<string, (boolean | undefined)[]>();
    for (const { file, extracted, entity_type } of findings) {
      assertEquals(entity_type, "CREDIT_CARD");
      const name = file.slice(folder.length + 1);
      told.set(name, [...told.get(name) ?? [], extracted]);
    }
    assertEquals(told.get("page.html"), [true]);
    assertEquals(told.get("letter.rtf"), [true]);
    assert(told.has("note.eml"));
    // Found where it stands, it is not told again.
    assertEquals(told.get("whole.html"), [undefined]);
    assertEquals(told.get("plain.txt"), [undefined]);
  });
});

Deno.test("dlp scan follows the policy that is named, with its words and patterns", () =>
  inFolder(
    { "a.txt": `${MAIL} ${CARD}`, "b.txt": "about project  falcon, AB-1234", "c.txt": "nothing" },
    async (folder) => {
      const { findings, files, findings_count } = JSON.parse(
        (await scan({ files: [`${folder}/a.txt`, `${folder}/b.txt`, `${folder}/c.txt`], policy: "cards" }))
          .text,
      );
      assertEquals(
        findings.map((one: { entity_type: string; start: number }) => [one.entity_type, one.start]),
        [["CREDIT_CARD", 19], ["STOP_WORD", 6], ["ORDER", 23]],
      );
      assertEquals([files, findings_count], [3, 3]);
      await assertRejects(() => scan({ files: [folder], policy: "other" }), Error, "expected one of cards");
    },
  ));

Deno.test("the status of dlp scan tells clean files, findings and files that cannot be read apart", () =>
  inFolder(
    { "clean.txt": "hello", "found.txt": MAIL, "data.bin": new Uint8Array(600).map((_, i) => i * 37) },
    async (folder) => {
      const at = (...names: string[]) => names.map((name) => `${folder}/${name}`);
      const clean = await scan({ files: at("clean.txt"), form: "text" });
      assertEquals(clean, { text: "", notes: ["Nothing found in 1 file."], status: 0 });
      assertEquals((await scan({ files: at("clean.txt", "found.txt") })).status, 1);
      const lacking = await scan({ files: at("found.txt", "absent.txt") });
      assertEquals([lacking.status, lacking.notes], [2, [
        `${folder}/absent.txt: not scanned, there is no such file`,
      ]]);
      const data = await scan({ files: at("data.bin"), policy: "cards" });
      assertEquals([data.status, data.notes], [0, [`${folder}/data.bin: not scanned, it holds no text`]]);
      assertEquals((await scan({ files: at("data.bin"), policy: "cards" }, "block")).status, 1);
    },
  ));

Deno.test({
  name: "dlp scan tells files that fail when they are read, and reads no device without end",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    inFolder({ "clean.txt": "hello" }, async (folder) => {
      // It exists and cannot be read, by whoever it is.
      const failing = await scan({ files: [`${folder}/clean.txt`, "/proc/self/mem"], form: "text" });
      assertEquals([failing.status, failing.notes.at(-1)], [2, "Nothing found in 1 file, 1 not scanned."]);
      const endless = await scan({ files: ["/dev/zero"], form: "text" });
      assertEquals(endless.notes[0], "/dev/zero: not scanned, it is larger than 128 MB");
    }),
});

Deno.test("dlp scan passes over folders of tools and symbolic links, unless they are named", () =>
  inFolder(
    { ".git/config": MAIL, "node_modules/a/b.js": MAIL, ".env": MAIL, "b/c.txt": MAIL },
    async (folder) => {
      await Deno.symlink(folder, `${folder}/b/loop`);
      const under = async (path: string) => {
        const found = [];
        for await (const { path: one } of filesUnder([path])) found.push(one.slice(folder.length));
        return found;
      };
      assertEquals(await under(folder), ["/.env", "/b/c.txt"]);
      assertEquals(await under(`${folder}/.git/`), ["/.git/config"]);
    },
  ));

Deno.test("Lines counts as editors do", () => {
  const text = "ab\ncd\r\n\r\nef";
  const { line, column } = new Lines(text).region(text.indexOf("f"), text.length);
  assertEquals([line, column], [4, 2]);
  assertEquals(new Lines(text).region(0, 5), { line: 1, column: 1, end_line: 2, end_column: 3 });
  assertEquals(new Lines("").region(0, 0), { line: 1, column: 1, end_line: 1, end_column: 1 });
});

/** What the schema of SARIF 2.1.0 says of the objects that are used: no other properties, and which must be there. */
function closed(required: string[], properties: Record<string, unknown>) {
  return { type: "object", additionalProperties: false, required, properties };
}
const all = (items: unknown) => ({ type: "array", items });
const from1 = { type: "integer", minimum: 1 };
const TEXT = { type: "string" };
const LEVEL = { enum: ["none", "note", "warning", "error"] };
const MESSAGE = closed([], { text: TEXT });
const BAG = { type: "object", properties: { tags: { type: "array", uniqueItems: true, items: TEXT } } };
const PLACE = closed([], {
  physicalLocation: closed([], {
    artifactLocation: closed([], { uri: { type: "string", pattern: '^[^\\s<>"{}|\\\\^`]+$' } }),
    region: closed([], { startLine: from1, startColumn: from1, endLine: from1, endColumn: from1 }),
  }),
});
const SARIF = closed(["version", "runs"], {
  $schema: TEXT,
  version: { enum: ["2.1.0"] },
  runs: all(closed(["tool"], {
    tool: closed(["driver"], {
      driver: closed(["name"], {
        name: TEXT,
        version: TEXT,
        rules: {
          ...all(closed(["id"], {
            id: TEXT,
            name: TEXT,
            shortDescription: closed(["text"], { text: TEXT }),
            defaultConfiguration: closed([], { level: LEVEL }),
            properties: BAG,
          })),
          uniqueItems: true,
        },
      }),
    }),
    columnKind: { enum: ["utf16CodeUnits", "unicodeCodePoints"] },
    results: all(closed(["message"], {
      ruleId: TEXT,
      ruleIndex: { type: "integer", minimum: -1 },
      level: LEVEL,
      message: MESSAGE,
      locations: all(PLACE),
      properties: BAG,
    })),
    invocations: all(closed(["executionSuccessful"], {
      executionSuccessful: { type: "boolean" },
      toolExecutionNotifications: all(
        closed(["message"], { level: LEVEL, message: MESSAGE, locations: all(PLACE) }),
      ),
    })),
  })),
});

Deno.test("dlp scan --sarif writes a log of SARIF 2.1.0", () =>
  inFolder({
    "a b.txt": `x\n${MAIL} ${CARD}\n${MAIL}`,
    "data.bin": new Uint8Array(600).map((_, i) => i * 37),
  }, async (folder) => {
    const { text, status } = await scan({ files: [folder], form: "sarif" });
    const log = JSON.parse(text);
    // deno-lint-ignore no-explicit-any
    const valid = new (Ajv as any).default({ strict: false }).compile(SARIF);
    assert(valid(log), JSON.stringify(valid.errors));
    const [{ results, tool: { driver: { rules } }, invocations }] = log.runs;
    for (const { ruleId, ruleIndex } of results) assertEquals(rules[ruleIndex].id, ruleId);
    const { physicalLocation } = results[1].locations[0];
    assertEquals(physicalLocation, {
      artifactLocation: { uri: `file://${folder}/a%20b.txt` },
      region: { startLine: 2, startColumn: 20, endLine: 2, endColumn: 36 },
    });
    assertEquals(invocations[0].toolExecutionNotifications.length, 1);
    assertEquals(status, 1);
    assert(!text.includes(CARD) && !text.includes(MAIL));
    const empty = JSON.parse((await scan({ files: [`${folder}/data.bin`], form: "sarif" })).text);
    assert(valid(empty));
  }));
