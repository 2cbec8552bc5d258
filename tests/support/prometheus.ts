/** The real program, with the configuration of the manual. */
import { FILES } from "../../src/manual/files.ts";
import { freePort } from "./cluster.ts";
import { isInstalled } from "./installed.ts";

export const prometheusHere = await isInstalled("prometheus", "--version");

export interface Prometheus {
  /** What its API answers; null: nothing yet. */
  ask(path: string): Promise<Loose>;
  stop(): Promise<void>;
}

// deno-lint-ignore no-explicit-any -- what it answers is for the test to know
type Loose = any;

/** Scrapes the gateway at this address each second. */
export async function startPrometheus(gateway: string, adminKey: string): Promise<Prometheus> {
  const folder = await Deno.makeTempDir({ prefix: "sluice-prometheus-" });
  const config = FILES["prometheus.yml"].text.replace("127.0.0.1:8787", new URL(gateway).host);
  await Deno.writeTextFile(`${folder}/prometheus.yml`, config.replaceAll("15s", "1s"));
  await Deno.writeTextFile(`${folder}/sluice.rules.yml`, FILES["sluice.rules.yml"].text);
  await Deno.writeTextFile(`${folder}/sluice.token`, adminKey);
  const port = freePort();
  const child = new Deno.Command("prometheus", {
    args: [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    async ask(path) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null);
      if (response?.ok) return (await response.json()).data;
      await response?.body?.cancel();
      return null;
    },
    async stop() {
      child.kill("SIGTERM");
      await child.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}
