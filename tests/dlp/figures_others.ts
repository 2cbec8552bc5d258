/**
 * Other scanners on the same rows, where they are installed: Presidio and detect-secrets in Python (the program that the
 * variable PYTHON names, else `python3`), gitleaks as a program.
 */
import { resolveEntityTypes } from "../../src/dlp/entities.ts";
import type { Report, Row } from "./figures.ts";

interface Scanner {
  name: string;
  find(row: Row): readonly Report[];
}

/**
 * Reads `{texts: []}`, answers a list of findings for each: type, start, end in characters. Without the model for names it
 * runs all patterns, with words as they stand instead of their lemmas.
 */
const PRESIDIO = `
import json, sys
import spacy
from spacy.language import Language
from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
from presidio_analyzer.nlp_engine import SpacyNlpEngine
@Language.component("words_as_lemmas")
def words_as_lemmas(doc):
    for token in doc: token.lemma_ = token.lower_
    return doc
try:
    nlp = spacy.load("en_core_web_sm")
except OSError:
    print("without en_core_web_sm", file=sys.stderr)
    nlp = spacy.blank("en"); nlp.add_pipe("words_as_lemmas")
class Engine(SpacyNlpEngine):
    def __init__(self):
        super().__init__()
        self.nlp = {"en": nlp}
registry = RecognizerRegistry(); registry.load_predefined_recognizers(languages=["en"])
engine = AnalyzerEngine(registry=registry, nlp_engine=Engine(), supported_languages=["en"])
json.dump([[[r.entity_type, r.start, r.end] for r in engine.analyze(t, language="en", score_threshold=0.4)] for t in json.load(sys.stdin)["texts"]], sys.stdout)
`;
const DETECT_SECRETS = `
import json, sys
from detect_secrets.core.scan import scan_line
from detect_secrets.settings import default_settings
out = []
with default_settings():
    for t in json.load(sys.stdin)["texts"]:
        found, at = [], 0
        for line in t.split("\\n"):
            for s in scan_line(line):
                i = line.find(s.secret_value or "")
                if s.secret_value and i >= 0: found.append(["SECRET", at + i, at + i + len(s.secret_value)])
            at += len(line) + 1
        out.append(found)
json.dump(out, sys.stdout)
`;

type Found = [type: string, start: number, end: number][];

async function python(script: string, texts: readonly string[]): Promise<Found[] | null> {
  try {
    const child = new Deno.Command(Deno.env.get("PYTHON") ?? "python3", {
      args: ["-c", script],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    })
      .spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(JSON.stringify({ texts })));
    await writer.close();
    const { success, stdout, stderr } = await child.output();
    const said = new TextDecoder().decode(stderr).trim().split("\n").at(-1);
    if (said) console.error(said);
    return success ? JSON.parse(new TextDecoder().decode(stdout)) : null;
  } catch {
    return null;
  }
}

/** A file for each text, because gitleaks reports findings by file, line and column. */
async function gitleaks(texts: readonly string[]): Promise<Found[] | null> {
  const folder = await Deno.makeTempDir();
  try {
    await Promise.all(texts.map((text, i) => Deno.writeTextFile(`${folder}/${i}.txt`, text)));
    const report = `${folder}/report.json`;
    const args = [
      "dir",
      folder,
      "--report-path",
      report,
      "--exit-code",
      "0",
      "--no-banner",
      "--max-decode-depth",
      "2",
    ];
    const { success } = await new Deno.Command("gitleaks", { args, stdout: "null", stderr: "null" }).output();
    if (!success) return null;
    const found: Found[] = texts.map(() => []);
    for (const { File, Secret } of JSON.parse(await Deno.readTextFile(report))) {
      const i = Number(/(\d+)\.txt$/.exec(File)?.[1] ?? -1);
      const start = texts[i]?.indexOf(Secret) ?? -1;
      if (start >= 0) found[i].push(["SECRET", start, start + Secret.length]);
    }
    return found;
  } catch {
    return null;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Their names of types as ours; characters as UTF-16 units. */
function scanner(name: string, texts: readonly string[], found: Found[] | null): Scanner {
  const known = new Map(texts.map((text, i) => [
    text,
    (found?.[i] ?? []).flatMap(([given, start, end]): Report[] => {
      const units = (n: number) => [...text].slice(0, n).join("").length;
      const at = name === "gitleaks" ? { start, end } : { start: units(start), end: units(end) };
      const { types } = resolveEntityTypes([given]);
      return [...given === "SECRET" ? [given] : types].map((type) => ({ type, ...at }));
    }),
  ]));
  return { name, find: (row) => known.get(row.text) ?? [] };
}

export async function* others(rows: readonly Row[]): AsyncGenerator<Scanner> {
  const texts = [...new Set(rows.map(({ text }) => text))];
  const runs: [string, () => Promise<Found[] | null>][] = [
    ["Presidio", () => python(PRESIDIO, texts)],
    ["detect-secrets", () => python(DETECT_SECRETS, texts)],
    ["gitleaks", () => gitleaks(texts)],
  ];
  for (const [name, run] of runs) {
    const found = await run();
    if (found === null) console.error(`${name} is not installed, or failed`);
    else yield scanner(name, texts, found);
  }
}
