/** Several numbers of one kind below and beside each other, and tables of numbers that only look like them. */

import { assert, assertEquals } from "@std/assert";
import { ALL_ENTITY_NAMES, DEFAULT_TYPES, resolveEntityTypes } from "../../src/dlp/entities.ts";
import { detector } from "../../src/dlp/scan.ts";
import { digits, drawing } from "./drawn_values.ts";

const everything = detector(resolveEntityTypes(ALL_ENTITY_NAMES).types);

const NUMBERS: Readonly<Record<string, readonly string[]>> = {
  CREDIT_CARD: [
    "4539 5787 6362 1486",
    "4111 1111 1111 1111",
    "5500 0055 5555 5559",
    "4012 8888 8888 1881",
    "4000 0566 5566 5556",
  ],
  FR_NIR: [
    "2 95 10 99 126 111 93",
    "2 69 05 49 588 157 80",
    "1 84 12 76 451 089 46",
  ],
  IN_AADHAAR: ["9302 9375 6125", "5364 2578 1722", "5922 0599 2300", "6792 0434 0959"],
  UK_NINO: ["CX 96 39 35 D", "AZ 12 34 56 A", "CT 71 91 99 A", "JG 10 37 59 A"],
};

const LAYOUTS: Readonly<Record<string, (numbers: readonly string[]) => string>> = {
  "lines": (all) => all.join("\n"),
  "lines with carriage returns": (all) => all.join("\r\n"),
  "lines of a letter": (all) => `These are the numbers:\n\n${all.join("\n")}\n\nThanks`,
  "lines of JSON": (all) => JSON.stringify({ text: all.join("\n") }),
  "columns between tabs": (all) => all.join("\t"),
  "rows between tabs": (all) => `id\ta\tb\n${all.map((one, i) => `100${i}\t${one}\t9${i}173`).join("\n")}`,
  "rows after dates": (all) => all.map((one, i) => `2026-03-0${i + 1} ${one}`).join("\n"),
  "list items": (all) => all.map((one, i) => `${i + 1}. ${one}`).join("\n"),
};

for (const [layout, write] of Object.entries(LAYOUTS)) {
  Deno.test(`scan() finds each of several numbers: ${layout}`, () => {
    for (const [type, numbers] of Object.entries(NUMBERS)) {
      const text = write(numbers);
      const found = everything.scan(text).filter(({ entityType }) => entityType === type);
      assertEquals(found.map(({ start, end }) => text.slice(start, end)), [...numbers], text);
    }
  });
}

Deno.test("scan() finds each of several cards in one row, and in a list with other numbers", () => {
  const cards = (text: string) =>
    everything.scan(text).filter(({ entityType }) => entityType === "CREDIT_CARD").length;
  assertEquals(cards(NUMBERS.CREDIT_CARD.join(" ")), 5);
  assertEquals(cards(["1234 5678 9012 3456", ...NUMBERS.CREDIT_CARD].join("\n")), 5);
  assertEquals(cards(["Cards:", "1234 5678 9012 3456", NUMBERS.CREDIT_CARD[0], "1"].join("\n")), 1);
});

Deno.test("scan() finds next to nothing in tables of groups of digits", () => {
  const draw = drawing(20261128);
  const usual = detector(DEFAULT_TYPES);
  for (const [columns, size, most] of [[4, 4, 4], [8, 4, 4], [12, 4, 0], [3, 3, 0], [6, 3, 0], [7, 2, 0]]) {
    for (const separator of [" ", "\t"]) {
      const row = () => Array.from({ length: columns }, () => digits(draw, size)).join(separator);
      const text = Array.from({ length: 4000 }, row).join("\n");
      const found = usual.scan(text);
      assert(
        found.length <= most,
        `${columns} × ${size}: ${found.map((one) => text.slice(one.start, one.end))}`,
      );
    }
  }
});

/** Values that are found by their name only, or rarely without it. */
const NAMED: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  US_SSN: ["SSNs", ["536904399", "219099998", "457555462", "212097694", "219099999", "536904398"]],
  PHONE_NUMBER: ["Phone numbers", ["06 12 34 06 89", "06 12 34 06 88", "06 12 34 06 87", "06 12 34 06 86"]],
  PASSWORD: ["Passwords", ["Kx7!vbQ92z", "tR45-pLmv88", "Gw07#pLmv38", "Mond!4821Q"]],
  CVV: ["CVV", ["737", "123", "456", "789"]],
  DATE_OF_BIRTH: ["Dates of birth", ["1984-03-12", "3 May 1990", "14.05.1986", "1987-06-15"]],
};

const NAMED_LAYOUTS: readonly ((name: string, values: readonly string[]) => string)[] = [
  (name, all) => `My ${name}: ${all.join(", ")}.`,
  (name, all) => `${name}:\n${all.join("\n")}`,
  (name, all) => `${name}:\r\n\r\n${all.map((one) => `* ${one}`).join("\r\n")}\r\n\r\nThanks`,
  (name, all) => `**${name}:**\n${all.map((one, i) => `${i + 1}. ${one}`).join("\n")}`,
  (name, all) => `${name}:\n${all.map((one) => `  - "${one}"`).join("\n")}`,
  (name, all) => `# ${name}\n\n${all.join("\n")}`,
  (name, all) => `${name}:\n${all.map((one, i) => `Anna ${"BCDEFG"[i]}. Smith: ${one}`).join("\n")}`,
  (name, all) => JSON.stringify({ [name]: all }),
];

Deno.test("scan() finds each value of a list after one name", () => {
  for (const [type, [name, values]] of Object.entries(NAMED)) {
    for (const write of NAMED_LAYOUTS) {
      const text = write(name, values);
      const found = everything.scan(text).filter(({ entityType }) => entityType === type);
      assertEquals(found.map(({ start, end }) => text.slice(start, end)), [...values], text);
    }
  }
});

Deno.test("scan() finds nothing in lists after names that only resemble those of values", () => {
  for (
    const text of [
      'tokens = ["foo", " ", "bar", "19June2000"]',
      "Passwords:\n- at least 8 characters\n- no spaces\n- 1 digit",
      "Password rules: min 8, max 64, digits 2",
      "Tax years:\n2019\n2020\n2021",
      "def password(x):\n    return 12345\n    return 3\n",
      "token counts: 1234, 5678, 91011",
      "mobile versions: 10.2.3, 11.4.5, 12.0.1",
      "keys:\n  - a1b2c3\n  - d4e5f6\n",
      "insurance premiums: 1200.50, 1300.75",
    ]
  ) assertEquals(everything.scan(text), [], text);
});
