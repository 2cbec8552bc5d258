/** Each way to start that the manual names, as it is written there, in a fresh folder: it does its job and ends well. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { PAGES } from "../../src/manual/pages.ts";
import { makeCluster, postgresHere } from "../support/cluster.ts";
import { assertBilled, doesItsJob } from "../support/main_job.ts";
import { eventually } from "../support/time.ts";
import { type Checkout, checkout, type Running } from "./checkout.ts";

const SECRET = "sk_live_waystostartwaystostartwaysto01";
const ADMIN = "an-admin-key-of-enough-letters";
const README = Deno.readTextFileSync(new URL("../../README.md", import.meta.url));

const CONFIG = {
  admin_key: ADMIN,
  providers: { demo: { api: "demo" } },
  models: [{
    id: "demo/small",
    routes: [{ provider: "demo", model: "small" }],
    pricing: { prompt: "0.001", completion: "0.001" },
    capabilities: { features: ["tools"] },
  }],
  dlp_policies: { own: { mode: "alert", regexes: [{ name: "order", pattern: "AB-\\d{4}" }] } },
  keys: [{ name: "test", secret: SECRET, dlp_policy: "own" }],
};

interface Way {
  /** A line of a shell, as the manual has it. */
  line: string;
  /** How the manual has it, where {@link line} says more. */
  written?: string;
  env?: Record<string, string>;
  ignore?: boolean;
  /** Ends it, as whoever started it so does; absent: SIGTERM. */
  end?: (running: Running) => void;
  status?: number;
}

const WAYS: Way[] = [
  // Ctrl-C reaches every process of the terminal. The exit status is that of npm.
  { line: "npx -y deno@2.9.6 task start", end: (r) => r.interrupt(), status: 130 },
  { line: "deno task start", end: (r) => r.interrupt() },
  { line: "deno task start --config sluice.jsonc" },
  { line: "deno task start --config sluice.jsonc --workers 2", written: "--workers N" },
  {
    line:
      "deno run $(sluice permissions --config sluice.jsonc) --config deno.json src/main.ts --config sluice.jsonc",
  },
];

const hasNpx = await new Deno.Command("npx", { args: ["--version"], stdout: "null", stderr: "null" }).output()
  .then(({ success }) => success, () => false);

async function tried(way: Way, place: Checkout, env: Record<string, string>): Promise<void> {
  const configured = way.line.includes("sluice.jsonc");
  const given: Record<string, string> = { ...(!configured && { SLUICE_ADMIN_KEY: ADMIN }), ...env };
  if (configured) await Deno.writeTextFile(`${place.folder}/sluice.jsonc`, JSON.stringify(CONFIG));
  const running = await place.start(way.line, given);
  const { status = 0, end = () => running.kill("SIGTERM") } = way;
  const shown = () => /sk_live_\w{20,}/.exec(running.out())?.[0];
  const secret = configured ? SECRET : await eventually(shown);
  const ids = await doesItsJob({
    url: running.url,
    secret: secret!,
    adminKey: ADMIN,
    model: "demo/small",
    stop: () => end(running),
    ended: running.ended.then((code) => code === status ? 0 : code),
  });
  assertStringIncludes(running.out() + running.err(), "stopping");
  assert(!/NotCapable|Requires|panicked/.test(running.err()), running.err());
  const { out, err } = await place.run(
    `sluice generations --json${configured ? " --config sluice.jsonc" : ""}`,
    env,
  );
  assert(out !== "", err);
  assertBilled(ids, JSON.parse(out).data);
}

const TEXTS = [README, ...PAGES.map(({ text }) => text)].join("\n");

for (const way of WAYS) {
  Deno.test({
    name: `the manual's \`${way.line}\` serves, bills and ends well`,
    ignore: Deno.build.os !== "linux" || (way.line.startsWith("npx") && !hasNpx),
    async fn() {
      assertStringIncludes(TEXTS, way.written ?? way.line);
      const place = await checkout();
      try {
        await tried(way, place, {});
      } finally {
        await place.remove();
      }
    },
  });
}

Deno.test({
  name: "a gateway with PostgreSQL, started as the manual says, serves, bills and ends well",
  ignore: postgresHere === null || Deno.build.os !== "linux",
  async fn() {
    const [place, cluster] = await Promise.all([checkout(), makeCluster()]);
    try {
      for (const line of [WAYS[2].line, WAYS[3].line, WAYS[4].line]) {
        await tried({ line }, place, { SLUICE_STORE: cluster.url });
      }
    } finally {
      await Promise.all([place.remove(), cluster.remove()]);
    }
  },
});

Deno.test("no page has a start command that is not tried", () => {
  const lines = TEXTS.split("\n").filter((line) =>
    /^(?:npx -y deno@\S+ task start|deno task start|deno run)(?: --|$| \$)/.test(line)
  );
  const known = [...WAYS.map(({ line }) => line), "deno run -A tests/dlp/figures.ts --types --others"];
  assertEquals(lines.filter((line) => !known.includes(line)), []);
  assert(lines.length >= 5);
});
