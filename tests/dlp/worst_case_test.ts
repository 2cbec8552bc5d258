/**
 * Feeds the detector a megabyte of what each recognizer likes least: its own beginnings, over and over, with the end
 * always missing. None of this is timed: a pattern that backtracks, or a loop that starts over at each unit, takes
 * minutes here and the suite does not finish.
 */

import { assert } from "@std/assert";
import { ALL_ENTITY_NAMES, resolveEntityTypes } from "../../src/dlp/entities.ts";
import { RECOGNIZERS } from "../../src/dlp/recognizers/list.ts";
import { detector } from "../../src/dlp/scan.ts";

const MEGABYTE = 1_000_000;
const everything = detector(resolveEntityTypes(ALL_ENTITY_NAMES).types);

const BEGINNINGS: Record<string, readonly string[]> = {
  numbers: [
    "1",
    "1-",
    "1.",
    "4111 ",
    "123456789 ",
    "1/",
    "(1",
    "+1",
    "a1",
    "A1 ",
    "ssn 1 ",
    "ssn 123-45-6789 ",
  ],
  iban: ["GB29 NWBK ", "GB29", "RU33"],
  network: [":", "a:", "1:2:3:", "aa-", "1.2.3."],
  contact: [
    "@",
    "a@",
    "a.",
    "a@b.c",
    "a (at) b ",
    "(at)",
    "phone 1",
    "http://",
    "www.a.",
    "a.b",
    "1 Aa Bb ",
    "SW1A ",
  ],
  fields: [
    '["ssn","b"],',
    '"ssn":[1,',
    '{"ssn":{',
    '{"name":"ssn","value":"1"',
    "<td>ssn</td><td>1",
    '<a value="ssn',
    "(ssn,b) VALUES (1,2),",
    "**ssn** 1 ",
  ],
  crypto: ["bc1q", "1A1z", "0x"],
  vendors: ["ghp_", "sk_", "xoxb-1", "SG.a", "hvs.", "glpat-", "AKIA", "https://hooks.slack.com/services/"],
  tokens: [
    "eyJ",
    "eyJaaaaa.",
    "eyJhbGciOiJIUzI1NiJ9.",
    "123456789:A",
    "x7Kp2Qz9",
    "secret-token-key-",
    "a_",
    "_",
  ],
  words: [
    "password=",
    'password: "',
    "token ",
    "secret ",
    "github ",
    "Bearer ",
    "Authorization: Basic ",
    "pwd ",
  ],
  credentials: [
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN ",
    "-",
    "://a:",
    "curl -u a:",
    "-u ",
    "kind: secret\ndata:\n a: b\n",
  ],
  persons: ["born ", "date of birth ", "Mr. Aa ", "Aa Bb ", "aged ", "lives in Aa "],
  folding: ["\u200b", "e\u0301", "１", "а1 ", "а", "\u{e0041}", "漢字", "\ufdfa", "\ud800"],
  encodings: [
    "12,34,",
    "52, 49, ",
    '"a" + ',
    '"a" +',
    "0x6a61",
    "\\x6a61 ",
    "%41",
    "%",
    "&#49;",
    "&#",
    "\\u0031",
    "=41",
    "QUJD",
    "deadbeef",
    "a/b+",
  ],
  lines: ["1\n", "A1\nB2\n", "A1B2C3D4\n", "a@\n", "\n", "\r\n"],
};

for (const [name, beginnings] of Object.entries(BEGINNINGS)) {
  Deno.test(`scan() of a megabyte of unfinished ${name} comes to an end`, () => {
    for (const beginning of beginnings) {
      const text = beginning.repeat(Math.ceil(MEGABYTE / beginning.length));
      for (const { start, end } of everything.scan(text)) {
        assert(start < end && end <= text.length, beginning);
      }
    }
  });
}

/** White space that the patterns of names and values allow between them. */
const GAPS: Record<string, string> = { spaces: " ", tabs: "\t", "line ends": "\n" };

for (const [name, unit] of Object.entries(GAPS)) {
  Deno.test(`scan() of samples with thousands of ${name} in every gap comes to an end`, () => {
    const gap = unit.repeat(10_000);
    for (const { type, samples } of RECOGNIZERS) {
      const one = detector(new Set([type]));
      for (const sample of samples.found) {
        const text = sample.replace(/[«»]/g, "").slice(0, 200).replace(/\s+|(?<=[:=,"])/g, gap) + gap;
        for (const { start, end } of one.scan(text)) assert(start < end && end <= text.length, type);
      }
    }
  });
}
