/**
 * Every secret that a configuration may hold, and every way in which something may go wrong with it: none is told by `check`, by
 * commands, or by a start that fails.
 */
import { assert } from "@std/assert";
import { examineValue } from "../../src/config/load.ts";
import { runProgram } from "../support/program.ts";
import { ALL, clean, configuration, places, S, withAt } from "./canaries.ts";

/** What somebody does to a field by mistake. */
const SLIPS: Record<string, (node: Record<string, unknown>, name: string) => void> = {
  "in a list": (node, name) => node[name] = [node[name]],
  "in an object": (node, name) => node[name] = { value: node[name] },
  "with a line break": (node, name) => node[name] = `${node[name]}\n`,
  "with a blank before": (node, name) => node[name] = ` ${node[name]}`,
  "with a letter beyond ASCII": (node, name) => node[name] = `${node[name]}é`,
  "far too long": (node, name) => node[name] = String(node[name]).repeat(200),
  "behind a word": (node, name) => node[name] = `Bearer ${node[name]}`,
  "as an address": (node, name) => node[name] = `https://user:${node[name]}@h.example:x/`,
  "under a misspelt name": (node, name) => {
    node[`${name}_`] = node[name];
    delete node[name];
  },
};

Deno.test("no mistake of a configuration tells a secret, wherever it is made", () => {
  const good = configuration("http://127.0.0.1:9", "/tmp/none");
  let tried = 0;
  for (const [path, value] of places(good)) {
    if (!ALL.some((secret) => value.includes(secret))) continue;
    for (const [slip, change] of Object.entries(SLIPS)) {
      const examination = examineValue(withAt(good, path, change), { env: () => undefined });
      let told = [
        ...examination.report.mistakes.map(({ message, path }) => `${path} ${message}`),
        ...examination.report.warnings,
      ].join("\n");
      try {
        told += examination.conclude().warnings.join("\n");
      } catch (thrown) {
        told += String(thrown);
      }
      clean(told, `${path.join(".")} ${slip}`);
      tried++;
    }
  }
  assert(tried > 150, `${tried}`);
});

Deno.test("addresses of databases tell no password, wherever they are wrong", () => {
  const P = S.database;
  const addresses = [
    `postgres://u:${P}@127.0.0.1:x/d`,
    `postgres://u:${P}@[::1/d`,
    `postgres:/u:${P}@h`,
    `postgres:u:${P}@h/d`,
    `postgresx://u:${P}@h/d`,
    `u:${P}@h/d`,
    `postgres://u:${P}/x@h/d`,
    `postgres://u:${P}@h/d?sslmode=what&password=${P}`,
    `postgres://h/d?user=u&password=${P}`,
    `sqlite://u:${P}@h`,
    ` postgres://u:${P}@h/d`,
    `"postgres://u:${P}@h/d"`,
    `mysql://u:${P}@h/d`,
  ];
  for (const url of addresses) {
    const examination = examineValue({ providers: {}, models: [], store: { url } }, { env: () => undefined });
    let told = "";
    try {
      told = examination.conclude().warnings.join("\n");
    } catch (thrown) {
      told = String(thrown);
    }
    clean(told, url.replace(P, "…"));
  }
});

Deno.test("commands, and a start whose database cannot be reached, tell no secret", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-secrets-" });
  try {
    const config = configuration("http://127.0.0.1:9", folder);
    const file = `${folder}/c.json`;
    const run = async (args: string[], value: unknown, env: Record<string, string> = {}) => {
      await Deno.writeTextFile(file, JSON.stringify(value));
      const { out, err } = await runProgram([...args, "--config", file], { cwd: folder, env });
      assert(out + err !== "", args.join(" "));
      clean(out + err, args.join(" "));
    };
    await run(["check"], config);
    await run(["providers"], config);
    await run(["models"], config);
    await run(["permissions"], config);
    const database = `postgres://u:${S.database}@127.0.0.1:9/d`;
    const elsewhere = { ...config, store: { url: database, journal: `${folder}/node` } };
    await run(["check"], elsewhere);
    await run(["usage"], elsewhere);
    await run(["store", "info"], elsewhere);
    await run(["usage"], { ...config, store: {} }, { DATABASE_URL: database });
    await run(["usage"], { ...config, store: {} }, { SLUICE_STORE: database });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
