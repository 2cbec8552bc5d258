/** Values beside each other: what is found alone is found whatever stands before and behind it. */

import { assertEquals } from "@std/assert";
import { ALL_ENTITY_NAMES, resolveEntityTypes } from "../../src/dlp/entities.ts";
import { RECOGNIZERS } from "../../src/dlp/recognizers/list.ts";
import type { NumberForms } from "../../src/dlp/recognizers/recognizer.ts";
import { detector } from "../../src/dlp/scan.ts";
import { type Draw, drawing, pick } from "./drawn_values.ts";

const { scan } = detector(resolveEntityTypes(ALL_ENTITY_NAMES).types);

/** Confidence of forms that need no name. */
const SURE = 0.6;
const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const JOINTS = [" ", "-", "."];

interface Form {
  mask: string;
  check: (compact: string) => boolean;
}

function formsOf({ forms, plain, check }: NumberForms): Form[] {
  return forms.flatMap((written) => {
    const [form, own] = written.split("=");
    if (check === undefined || (own ? Number(own) : plain) < SURE) return [];
    const mask = form.replace(/(.)\{(\d+)\}/g, (_, c, n) => c.repeat(Number(n)));
    return [...new Set(JOINTS.map((joint) => mask.replaceAll("~", joint)))].map((one) => ({
      mask: one,
      check,
    }));
  });
}

const FORMS = RECOGNIZERS.flatMap(({ numbers }) => (numbers ?? []).flatMap(formsOf));

/** A number of a form with right check digits; null: none was drawn. */
function drawn(draw: Draw, { mask, check }: Form): string | null {
  for (let i = 0; i < 20_000; i++) {
    const number = mask.replace(/[9A]/g, (c) => c === "9" ? String(draw(10)) : pick(draw, LETTERS));
    if (check(number.replace(/[^A-Z0-9]/g, ""))) return number;
  }
  return null;
}

/** Others, with the words that name them. */
const VALUES = [
  ["tel ", "06 12 34 06 89"],
  ["", "+41 781 234 567"],
  ["", "+37861234567"],
  ["", "(415) 555-0132"],
  ["", "jane.doe@corp.example"],
  ["", "jane.doe%40corp.example"],
  ["", "DE89 3704 0044 0532 0130 00"],
  ["", "ghp_1B4a7Kd93kfLs82jfHwq01mZxPq3bV4tYu6R"],
  ["ssn ", "536-90-4399"],
  ["password: ", "Kx7!vbQ92z"],
  ["CVV ", "737"],
  ["DOB: ", "1984-03-12"],
  [
    "",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END PRIVATE KEY-----",
  ],
] as const;

const BETWEEN = [
  " ok ",
  ". Then ",
  "\n",
  "\n\n",
  ", ",
  "; ",
  " | ",
  "\t",
  " and ",
  " - ",
  "\nNo. 12: ",
  " (2026-03-01) ",
  " 100 EUR, ",
  " \\n ",
  "%20 ",
  "&nbsp; ",
  " id=17 ",
  ' {"a": 1} ',
  " https://x.example/a?b=1 ",
  " deadbeef0123 ",
  "\n> ",
  "\n  - ",
  " — ",
];

/** Whether findings cover nearly all of a range. */
function isCovered(text: string, start: number, end: number): boolean {
  let covered = 0;
  for (const one of scan(text)) covered += Math.max(0, Math.min(one.end, end) - Math.max(one.start, start));
  return covered >= 0.8 * (end - start);
}

Deno.test("scan() finds each of several values in one text that it finds alone", () => {
  const draw = drawing(20261129);
  const missed: string[] = [];
  for (let i = 0; i < 700; i++) {
    let text = "";
    const ranges: { start: number; end: number; name: string }[] = [];
    for (let n = 2 + draw(4); n > 0; n--) {
      const [name, value] = draw(2) === 0 ? pick(draw, VALUES) : ["", drawn(draw, pick(draw, FORMS))];
      if (value === null) continue;
      text += name;
      ranges.push({ start: text.length, end: text.length + value.length, name });
      text += value + pick(draw, BETWEEN);
    }
    for (const { start, end, name } of ranges) {
      const alone = `x ${name}${text.slice(start, end)} ok`;
      if (isCovered(text, start, end) || !isCovered(alone, 2 + name.length, alone.length - 3)) continue;
      missed.push(`${text.slice(0, start)}«${text.slice(start, end)}»${text.slice(end)}`);
    }
  }
  assertEquals(missed, []);
});
