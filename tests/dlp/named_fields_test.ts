/** Values whose names stand apart from them, in each of the ways in which texts are built, and texts built so without any. */
import { assert, assertEquals } from "@std/assert";
import { ALL_ENTITY_NAMES, resolveEntityTypes } from "../../src/dlp/entities.ts";
import { namedFields } from "../../src/dlp/named_fields.ts";
import { RECOGNIZERS } from "../../src/dlp/recognizers/list.ts";
import { detector } from "../../src/dlp/scan.ts";

const everything = detector(resolveEntityTypes(ALL_ENTITY_NAMES).types);

/** Values that are recognised only by their name. */
const VALUES: [name: string, value: string, type: string][] = [
  ["cvv", "737", "CVV"],
  ["ein", "12-3456789", "US_EIN"],
  ["date_of_birth", "1984-03-12", "DATE_OF_BIRTH"],
  ["DB_PASSWORD", "Tr0ub4dor*3x", "PASSWORD"],
  ["ssn", "536904399", "US_SSN"],
];
const FAR = "Lorem ipsum dolor sit amet ".repeat(6);

/** The value stands between « and »; `name` and `value` are filled in. */
const WAYS: Record<string, (name: string, value: string) => string> = {
  "an object of name and value": (n, v) => `{"name":"${n}","type":"text","value":"«${v}»"}`,
  "an object of value and name": (n, v) => `{"value": "«${v}»", "label": "${n}"}`,
  "an object in a string of JSON": (n, v) => `{"x":"[{\\"key\\":\\"${n}\\",\\"value\\":\\"«${v}»\\"}]"}`,
  "a question and its answer": (n, v) => `[{"question":"${n}","answer":"«${v}»"}]`,
  "an entry of YAML": (n, v) => `env:\n  - name: X\n    value: y\n  - name: ${n}\n    value: "«${v}»"\n`,
  "attributes": (n, v) => `<appSettings><add key="${n}" value="«${v}»" /></appSettings>`,
  "an element": (n, v) => `<p><name>Jo</name><x:${n}>«${v}»</x:${n}></p>`,
  "cells beside each other": (n, v) => `<tr>\n<td class="l"><b>${n}</b>:</td>\n<td>«${v}»</td></tr>`,
  "cells of a column": (n, v) =>
    `<table><tr><th>Name</th><th>${n}</th></tr><tr><td>${FAR}</td><td>«${v}»</td></tr></table>`,
  "a list of terms": (n, v) => `<dl><dt>${n}</dt><dd>«${v}»</dd></dl>`,
  "a label and its field": (n, v) => `<label for="a">${n}</label> <input id="a" type="text" value="«${v}»">`,
  "a property list": (n, v) => `<dict><key>${n}</key><string>«${v}»</string></dict>`,
  "lists below names": (n, v) => `{"columns":["name","${n}"],"rows":[["${FAR}","x"],\n["Al","«${v}»"]]}`,
  "a list of lists": (n, v) => `[["name", "${n}"], ["${FAR}", "«${v}»"]]`,
  "a list behind a name": (n, v) => `{"${n}": ["${FAR}", null, "«${v}»"]}`,
  "an object behind a name": (n, v) => `{"${n}": {"0": "${FAR}", "1": "«${v}»"}}`,
  "rows of SQL": (n, v) => `INSERT INTO p (name, ${n}) VALUES ('${FAR}', NULL), ('Al', '«${v}»');`,
  "rows below the definition of their table": (n, v) =>
    `CREATE TABLE \`p\` (\n  \`id\` int(11) NOT NULL,\n  \`sum\` decimal(10,2) DEFAULT NULL,\n  \`${n}\` varchar(99),\n  PRIMARY KEY (\`id\`),\n  KEY \`k\` (\`id\`,\`sum\`)\n) ENGINE=InnoDB;\nLOCK TABLES \`p\` WRITE;\nINSERT INTO \`p\` VALUES (1,2.50,'${FAR}'),(2,NULL,'«${v}»');`,
  "rows of SQLite": (n, v) =>
    `CREATE TABLE IF NOT EXISTS "p" (id integer, ${n} text);\nINSERT INTO p VALUES(1,'${FAR}');\nINSERT INTO p VALUES(2,'«${v}»');`,
  "a block of COPY": (n, v) =>
    `SET x = 0;\nALTER TABLE p OWNER TO app;\nSET y = 0;\nSET z = 0;\nCOPY public.p (id, note, ${n}) FROM stdin;\n1\t${FAR}\t\\N\n2\tx\t«${v}»\n\\.\n`,
  "a table of MySQL": (n, v) => `+----+-----+\n| id | ${n} |\n+----+-----+\n| 17 | «${v}» |\n+----+-----+\n`,
  "a sheet with empty cells": (n, v) => `x\n\nid\t${n}\tnote\t\n15\tx\n16\t${FAR}\tx\t\t\n17\t«${v}»\t\t\n`,
  "a table in lines": (n, v) => `┌────┬─────┐\n│ id │ ${n} │\n├────┼─────┤\n│ 17 │ «${v}» │\n└────┴─────┘\n`,
  "a CSV file in a string of JSON": (n, v) => `{"csv":"id,${n}\\n17,«${v}»\\n"}`,
  "words in bold": (n, v) => `- **${n}**: \`«${v}»\`\n- **City:** Bonn`,
};

Deno.test("scan() finds the values of messages whose fields have positions and codes", () => {
  const marked = "PID|1||«1220467»^^^HOSP^MR~«536904399»^^^SSA^SS||DOE^JANE||«19840312»|F\n" +
    "NM1*85*2*CLINIC*****XX*«1234567893»~REF*SY*«536904399»~DMG*D8*«19840312»*F~PER*IC*JO*TE*«2015550123»~" +
    "1 BIRT\n2 DATE «10 MAR 1920»\n";
  const values = [...marked.matchAll(/«([^»]+)»/g)].map(([, value]) => value);
  const text = marked.replace(/[«»]/g, "");
  const found = everything.scan(text);
  assertEquals(found.map(({ start, end }) => text.slice(start, end)), values);
});

Deno.test("scan() takes no name of a column for that of the next column", () => {
  const text = `note,mrn,account_number\n${FAR},00482913,53918264\n${FAR},00482914,53918265\n`;
  const types = everything.scan(text).filter(({ start }) => text.startsWith("5391", start)).map((one) =>
    one.entityType
  );
  assertEquals(types.includes("MEDICAL_RECORD_NUMBER"), false, types.join());
});

for (const [way, text] of Object.entries(WAYS)) {
  Deno.test(`scan() finds a value in ${way} by its name`, () => {
    for (const [name, value, type] of VALUES) {
      const marked = text(name, value);
      const found = everything.scan(marked.replace(/[«»]/g, "")).filter((one) => one.entityType === type);
      const start = marked.indexOf("«");
      assertEquals(found.map((one) => [one.start, one.end]), [[start, start + value.length]], marked);
    }
  });
}

Deno.test("scan() finds each cell of a long table of JSON, HTML or SQL", () => {
  const dates = detector(new Set(["DATE_OF_BIRTH"]));
  const day = (i: number) => `19${10 + i % 80}-03-12`;
  const days = Array.from({ length: 300 }, (_, i) => day(i));
  for (
    const text of [
      JSON.stringify({ columns: ["id", "dob"], data: days.map((one, i) => [i, one]) }),
      JSON.stringify({ dob: days }, null, 2),
      `<table><tr><th>Id<th>DOB</tr>${days.map((one) => `<tr><td>7</td><td>${one}</td></tr>`).join("\n")}`,
      `INSERT INTO p (id, dob) VALUES ${days.map((one) => `(7, '${one}')`).join(",\n")};`,
    ]
  ) {
    assertEquals(dates.scan(text).length, 300, text.slice(0, 80));
  }
});

Deno.test("scan() finds each row of SQL that is longer than a segment", () => {
  const dates = detector(new Set(["DATE_OF_BIRTH"]));
  const rows = Array.from({ length: 5000 }, (_, i) => `(${i}, '19${10 + i % 80}-03-12')`);
  const copied = rows.map((row) => row.slice(1, -2).replace(", '", "\t"));
  for (
    const text of [
      `INSERT INTO p (id, dob) VALUES ${rows.join(",\n")};\n`,
      `INSERT INTO p (id, dob) VALUES ${rows.join(",")};\n`,
      `CREATE TABLE p (id int, dob date);\nINSERT INTO p VALUES ${rows.join(",")};\n`,
      `CREATE TABLE p (id int, dob date);\n${rows.map((row) => `INSERT INTO p VALUES ${row};\n`).join("")}`,
      `COPY p (id, dob) FROM stdin;\n${copied.join("\n")}\n\\.\n`,
    ]
  ) {
    assertEquals(dates.scan(text).length, rows.length, text.slice(0, 80));
  }
});

Deno.test("scan() finds each value of a list or table that is longer than a segment", () => {
  const dates = detector(new Set(["DATE_OF_BIRTH"]));
  const days = Array.from({ length: 5000 }, (_, i) => `19${10 + i % 80}-03-12`);
  const csv = `id,dob\n${days.map((day, i) => `${i},${day}`).join("\n")}`;
  const cells = days.map((day) => `<tr><td>7</td><td>${day}</td></tr>`);
  for (
    const text of [
      JSON.stringify({ columns: ["id", "dob"], data: days.map((day, i) => [i, day]) }),
      JSON.stringify([["id", "dob"], ...days.map((day, i) => [i, day])], null, 1),
      JSON.stringify({ dob: days, rest: ["2001-03-12"] }),
      JSON.stringify({ dob: days }, null, 2),
      JSON.stringify({ id: days.map((_, i) => i), dob: days }),
      JSON.stringify({ dob: Object.fromEntries(days.map((day, i) => [i, day])) }),
      JSON.stringify({ csv }),
      csv.replace(/\n(\d*50),/g, "\n# part $1\n\n$1,"),
      `<table><tr><th>Id</th><th>DOB</th></tr>${
        cells.join("\n")
      }</table><table><tr><td>7</td><td>2001-03-12</td></tr>`,
      `<table><tr><th>Id</th><th>DOB</th></tr>${cells.join("")}</table>`,
      `Dates of birth:\n${days.map((day) => `- ${day}\n`).join("")}\nHolidays\n2001-03-12\n`,
      `Dates of birth: ${days.join(", ")}\n2001-03-12, 2001-03-13`,
      `dob\n${days.join("\n")}`,
      `COPY people (id, dob) FROM stdin;\n${days.map((day, i) => `${i}\t${day}`).join("\n")}\n\\.\n`,
      `id\trecorded date of birth\n${days.map((day, i) => `${i % 9}\t${day}`).join("\n")}`,
    ]
  ) {
    assertEquals(dates.scan(text).length, days.length, text.slice(0, 80));
  }
});

Deno.test("a table ends where another one begins", () => {
  const text = "id,dob\n1,1984-03-12\n\nid,day\n1,2001-03-12\n";
  const found = detector(new Set(["DATE_OF_BIRTH"])).scan(text);
  assertEquals(found.map(({ start, end }) => text.slice(start, end)), ["1984-03-12"]);
});

Deno.test("scan() finds what a column is called, as it does the same words in a sentence", () => {
  for (const { type, samples } of RECOGNIZERS) {
    const only = detector(new Set([type]));
    for (const sample of samples.found) {
      const parts = /^([\p{L}][^«»:\n\d",;|{}<>=]{1,38}?)[:：]? ?«([^«»\n,;|]+)»$/u.exec(sample);
      // A service may be the name of any column.
      if (!parts || /^(?:mailgun|elevenlabs|ring)$/.test(parts[1])) continue;
      const [, label, value] = parts;
      // What ends with a verb is no name.
      if (/[\p{L}'] (?:au|je|c'est)$/u.test(label) || only.scan(`${label}: ${value}`).length === 0) continue;
      for (const delimiter of ["\t", ",", ";", "|"]) {
        const lines = [["id", label, "note"], ["1000", value, "x"], ["1001", value, "y"]];
        const text = lines.map((cells) => cells.join(delimiter)).join("\n");
        const found = only.scan(text).map((one) => text.slice(one.start, one.end));
        assert(found.length === 2 && found.every((one) => one.includes(value)), `${text}\n${found}`);
      }
    }
  }
});

Deno.test("namedFields() takes nothing for named that its name does not name", () => {
  for (
    const text of [
      '{"name":"city","value":"Bonn 12345"}',
      '{"name":"ssn","of":{"x":1}},{"value":"536904399"}',
      "<td>City</td><td>12345</td>",
      '{"columns":["id","city"],"rows":[[1,"12345"]]}',
      '{"city":["12345"]}',
      "<table><tr><th>Id</th><th>SSN</th></tr></table><tr><td>7</td><td>536904399</td></tr>",
      "**Note:** 12345",
      "a < b and value = 12345",
      "<a>base-passwd@packages.example.org</a>\n&#62;</code> 12345",
      '{"name":"card 4539578763621486","value":"123456"}',
    ]
  ) {
    assertEquals(namedFields({ text }), null, text);
  }
  // A password that is a word, and a column of names alone.
  for (
    const text of [
      "<td>Password</td><td>The password of the user</td>",
      '{"name":"password","value":"string"}',
      '["password","token","secret"]',
      '{"name":"token_count","value":"1234567"}',
    ]
  ) {
    assertEquals(everything.scan(text), [], text);
  }
});

Deno.test("namedFields() says no more than three times what the text is long", () => {
  for (
    const unit of [
      '{"name":"ssn","value":"536904399"},',
      "<td>ssn</td><td>536904399</td>",
      '"ssn":["536904399",',
    ]
  ) {
    const view = namedFields({ text: unit.repeat(2000) });
    assert(view !== null && view.text.length < unit.length * 2000 * 4);
  }
});

Deno.test("scan() finds what is named in another line of a quoted mail", () => {
  const { scan } = detector(new Set(["DATE_OF_BIRTH", "PASSWORD", "US_SSN"]));
  for (
    const [text, ...want] of [
      ["On Monday Bob wrote:\n> Date of birth\n> 1984-03-12\n", "1984-03-12"],
      ["> > | Name | SSN |\n> > |---|---|\n> > | Jo | 536904399 |\n", "536904399"],
      ["> id,dob\n> 7,1984-03-12\n> 8,1985-03-12\n", "1984-03-12", "1985-03-12"],
      ["> What is the password?\n> Bob: blue-Heron42\n", "blue-Heron42"],
    ]
  ) {
    assertEquals(scan(text).map(({ start, end }) => text.slice(start, end)), want, text);
  }
  assertEquals(scan("a > b\n> 1984-03-12\nx"), []);
});
