/** What only the machine and the regular expression engine can tell of a configuration. */
import { assertEquals } from "@std/assert";
import { checked } from "../../src/config/check.ts";
import { ConfigError } from "../../src/config/config_error.ts";
import { examineDemo } from "../../src/config/demo.ts";
import { examineValue, type Loaded } from "../../src/config/load.ts";
import { environment, least, NO_ENV } from "./example.ts";

async function mistakesOf(work: Promise<Loaded>): Promise<string[]> {
  try {
    await work;
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.mistakes.map(({ path, message }) => `${path}: ${message}`);
  }
}

const check = (more: Record<string, unknown>, env = NO_ENV) =>
  checked(examineValue({ ...least(), store: { url: "sqlite::memory:" }, ...more }, { env }), {
    listens: true,
  });

Deno.test("a misspelt entity type is a mistake that names the nearest", async () => {
  const policy = { mode: "block", entity_types: ["IBAN_CODE", "EMAIL_ADRESS"] };
  const found = await mistakesOf(check({ dlp_policies: { bad: policy } }));
  assertEquals(found, [
    "dlp_policies.bad.entity_types[1]: expected the name of an entity type or a group of them, " +
    'got "EMAIL_ADRESS"; nearest is EMAIL_ADDRESS',
  ]);
});

Deno.test("a pattern that RE2 refuses is a mistake, also where something else is wrong", async () => {
  const regexes = [{ name: "a", pattern: "a+" }, { name: "b", pattern: "(?=a)" }];
  const dlp_policies = { good: { mode: "block", regexes: [regexes[0]] }, bad: { mode: "mask", regexes } };
  const mistake =
    'dlp_policies.bad.regexes[1].pattern: expected an RE2 pattern (invalid perl operator: (?=), got "(?=a)"';
  assertEquals(await mistakesOf(check({ dlp_policies })), [mistake]);
  assertEquals(await mistakesOf(check({ dlp_policies, admin_key: "" })), [
    "admin_key: expected printable ASCII without spaces or line breaks, or null, got another value (not shown)",
    mistake,
  ]);
  assertEquals(await mistakesOf(check({})), []);
});

Deno.test("files that cannot be read are mistakes, all of them, also where something else is wrong", async () => {
  const files = {
    server: { tls: { cert: "/no/cert.pem", key: "/no/key.pem" } },
    store: { url: "sqlite:/proc/no/new.db" },
    dlp: { model: "/no/model.onnx" },
  };
  const mistakes = [
    "dlp.model: expected an ONNX file with config.json and vocab.txt beside it, but /no/model.onnx cannot be read, " +
    'got "/no/model.onnx"',
    'store.url: expected a path where files can be made, got "sqlite:/proc/no/new.db"',
    'server.tls.cert: expected the path of a file that can be read, got "/no/cert.pem"',
    'server.tls.key: expected the path of a file that can be read, got "/no/key.pem"',
  ];
  assertEquals(await mistakesOf(check(files)), mistakes);
  const also = { ...files, server: { ...files.server }, logs: "xml" };
  assertEquals(await mistakesOf(check(also)), ['logs: expected one of text, json, got "xml"', ...mistakes]);
});

Deno.test("a store that cannot be where it is said to be is a mistake", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/note.txt`, "This is no database at all.");
    await Deno.mkdir(`${folder}/folder.db`);
    const cases: [path: string, allowed: string | null][] = [
      ["new.db", null],
      ["deep/er/new.db", null],
      ["folder.db", "the path of a file (a directory has this path)"],
      ["note.txt", "the path of an SQLite database"],
      ["note.txt/new.db", "the path of a file that can be written"],
    ];
    for (const [path, allowed] of cases) {
      const url = `sqlite:${folder}/${path}`;
      const expected = allowed === null ? [] : [`store.url: expected ${allowed}, got ${JSON.stringify(url)}`];
      assertEquals(await mistakesOf(check({ store: { url } })), expected);
    }
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
    assertEquals(names, ["folder.db", "note.txt"], "a check leaves nothing behind");
    const demo = examineDemo({ env: environment({ SLUICE_STORE: `sqlite:${folder}/folder.db` }) });
    const [mistake] = await mistakesOf(checked(demo, { listens: false }));
    assertEquals(mistake.split(":")[0], "SLUICE_STORE");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a journal that cannot be made is a warning: the gateway runs without", async () => {
  const store = { url: "postgres://127.0.0.1:1/d", journal: "/dev/null/node" };
  const { warnings } = await check({ store });
  assertEquals(warnings, ['store.journal: expected a path where files can be made, got "/dev/null/node"']);
});

Deno.test("an address of another machine is a mistake, unless nobody is to listen", async () => {
  // TEST-NET-1 of RFC 5737 belongs to nobody.
  const value = { ...least(), store: { url: "sqlite::memory:" }, server: { hostname: "192.0.2.1" } };
  assertEquals(await mistakesOf(checked(examineValue(value, { env: NO_ENV }), { listens: true })), [
    'server.hostname: expected an address of this machine, or a host name that leads to one, got "192.0.2.1"',
  ]);
  assertEquals(await mistakesOf(checked(examineValue(value, { env: NO_ENV }), { listens: false })), []);
});
