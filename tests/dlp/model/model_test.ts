import { assertEquals } from "@std/assert";
import { resolveEntityTypes } from "../../../src/dlp/entities.ts";
import { entitiesOf } from "../../../src/dlp/model/entities_of_pieces.ts";
import { readLabel } from "../../../src/dlp/model/labels.ts";
import { openModel } from "../../../src/dlp/model/mod.ts";
import { WordPiece } from "../../../src/dlp/model/wordpiece.ts";
import { modelTrouble } from "../../../src/dlp/config.ts";
import { type ScanCommand, scanFiles } from "../../../src/commands/scan_files.ts";
import type { PolicyRules } from "../../../src/dlp/config.ts";
import { writeTinyModel } from "../../support/tiny_model.ts";

async function withModel(use: (path: string, folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await use(await writeTinyModel(folder), folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a model's findings have their type, place and confidence, in texts longer than its window", () =>
  withModel(async (path) => {
    const model = openModel(path);
    const short = "Ada Lovelace works for ACME Corp. in London";
    const long = "word ".repeat(600) + short;
    const found = await model.find([short, long, ""]);
    model.close();
    const valuesIn = (text: string) =>
      found!.get(text)!.map(({ type, start, end }) => `${type} ${text.slice(start, end)}`);
    const expected = ["PERSON Ada Lovelace", "ORGANIZATION ACME Corp", "LOCATION London"];
    assertEquals(valuesIn(short), expected);
    assertEquals(valuesIn(long), expected);
    assertEquals(valuesIn(""), []);
    assertEquals(found!.get(short)!.every(({ confidence }) => confidence > 0.9), true);
  }));

Deno.test("a screening for names asks the model, one for numbers does not, and one whose model fails is not whole", () =>
  withModel(async (path, folder) => {
    await Deno.writeTextFile(`${folder}/a.txt`, "Contract of Ada Lovelace, London");
    const policy = (...names: string[]): PolicyRules => ({
      mode: "block",
      answers: "off",
      entityTypes: [...resolveEntityTypes(names).types],
      stopWords: [],
      patterns: [],
      allowed: [],
    });
    const dlpPolicies = { names: policy("PERSON", "LOCATION"), numbers: policy("CREDIT_CARD") };
    const scan = async (name: keyof typeof dlpPolicies, model: string) => {
      const command: ScanCommand = { files: [`${folder}/a.txt`], form: "json", policy: name };
      const dlp = { enabled: true, onUnscannable: "pass", restore: false, model } as const;
      const { findings, unscanned } = JSON.parse((await scanFiles(command, { dlp, dlpPolicies }, "1")).text);
      return [
        findings.map((one: { entity_type: string; column: number }) => [one.entity_type, one.column]),
        unscanned.length,
      ];
    };
    assertEquals(await scan("names", path), [[["PERSON", 13], ["LOCATION", 27]], 0]);
    assertEquals(await scan("numbers", path), [[], 0]);
    await Deno.writeTextFile(`${folder}/model.onnx`, "no model");
    assertEquals(await scan("numbers", path), [[], 0]);
    assertEquals((await scan("names", path))[1], 1);
  }));

Deno.test("modelTrouble() names the file that is missing", () =>
  withModel(async (path, folder) => {
    assertEquals([await modelTrouble(undefined), await modelTrouble(path)], [null, null]);
    await Deno.remove(`${folder}/vocab.txt`);
    assertEquals((await modelTrouble(path))?.includes(`${folder}/vocab.txt`), true);
  }));

Deno.test("readLabel() understands the ways in which models name what they find", () => {
  const meaning = (label: string) => `${readLabel(label).type} ${readLabel(label).begins}`;
  assertEquals(["B-PER", "I-ORG", "S-LOC", "private_person", "GIVENNAME", "O", "B-MISC"].map(meaning), [
    "PERSON true",
    "ORGANIZATION false",
    "LOCATION true",
    "PERSON false",
    "PERSON false",
    "null false",
    "null true",
  ]);
});

Deno.test("WordPiece splits words into the longest known pieces and keeps their places", () => {
  const tokenizer = new WordPiece(["[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "é", "中", "!"], {
    lowercase: false,
  });
  const pieces = [...tokenizer.pieces(" unaffable 中文 é! zzz")];
  assertEquals(pieces.map(({ id, start, end }) => [id, start, end]), [
    [3, 1, 3],
    [4, 3, 6],
    [5, 6, 10],
    [7, 11, 12],
    [0, 12, 13],
    [6, 14, 15],
    [8, 15, 16],
    [0, 17, 20],
  ]);
});

Deno.test("entitiesOf() parts neighbours that begin anew, and joins the pieces of one word", () => {
  const labels = ["O", "B-PER", "I-PER"].map(readLabel);
  const text = "Ann Bob Lee x";
  const pieces = [[0, 3], [4, 7], [8, 9], [9, 11], [12, 13]].map(([start, end]) => ({ id: 0, start, end }));
  const row = (label: number) => [0, 1, 2].map((i) => i === label ? 9 : 0);
  const scores = Float32Array.from([row(1), row(1), row(2), row(0), row(0)].flat());
  const found = entitiesOf(text, pieces, scores, labels);
  assertEquals(found.map(({ start, end }) => text.slice(start, end)), ["Ann", "Bob Lee"]);
});
