/** The real program over a store of its own, and what the machine tells of it. */
import { serveProgram, type Serving } from "../support/program.ts";
import { ANSWERS } from "./answers.ts";

export const SECRETS = {
  ordinary: "sk_live_soaksoaksoaksoaksoaksoaksoak01",
  hostile: "sk_live_soaksoaksoaksoaksoaksoaksoak02",
  /** Its requests and answers are screened. */
  screened: "sk_live_soaksoaksoaksoaksoaksoaksoak03",
};
export const ADMIN_KEY = "soak-admin-key-of-32-characters-";

/** The provider's program. */
export async function startProvider(): Promise<{ url: string; stop(): Promise<void> }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--no-lock", new URL("provider.ts", import.meta.url).pathname],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const output = child.stdout.getReader();
  const { value } = await output.read();
  const port = /(\d+)/.exec(new TextDecoder().decode(value))![1];
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill("SIGKILL");
      await output.cancel();
      await child.status;
    },
  };
}

export interface SoakGateway extends Serving {
  /** Bytes in memory now, and at most since the last {@link SoakGateway.forgetPeak}. */
  memory(): { now: number; peak: number };
  forgetPeak(): void;
  descriptors(): number;
  /** Milliseconds of CPU time that it has used. */
  cpu(): number;
  /** The sum of a metric's values; NaN: it has none. */
  metric(name: string): Promise<number>;
  /** Milliseconds of CPU time of the longest steps on the event loop since the last call, longest first. */
  steps(): Promise<number[]>;
  stop(): Promise<number>;
}

/** @param provider its address */
export async function startGateway(
  folder: string,
  provider: string,
  { files, server = {}, entry = new URL("steps_program.ts", import.meta.url) }: {
    files?: number;
    server?: Record<string, unknown>;
    /** The module that is run. */
    entry?: URL;
  } = {},
): Promise<SoakGateway> {
  const config = `${folder}/soak.json`;
  await Deno.writeTextFile(config, JSON.stringify(configuration(folder, provider, server)));
  const serving = await serveProgram(["serve", "--config", config], {
    cwd: folder,
    files,
    entry,
  });
  const steps = Number(/steps at (\d+)/.exec(serving.err())?.[1]);
  const proc = `/proc/${serving.pid}`;
  return {
    ...serving,
    memory() {
      const status = Deno.readTextFileSync(`${proc}/status`);
      const kilobytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? NaN);
      return { now: kilobytes("VmRSS") * 1024, peak: kilobytes("VmHWM") * 1024 };
    },
    forgetPeak: () => Deno.writeTextFileSync(`${proc}/clear_refs`, "5"),
    cpu() {
      const [user, system] = Deno.readTextFileSync(`${proc}/stat`).split(") ")[1].split(" ").slice(11, 13);
      return (Number(user) + Number(system)) * 10;
    },
    descriptors: () => [...Deno.readDirSync(`${proc}/fd`)].length,
    async metric(name) {
      const response = await fetch(`${serving.url}/metrics`, {
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
      });
      const lines = (await response.text()).split("\n").filter((line) => line.startsWith(name));
      return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), lines.length > 0 ? 0 : NaN);
    },
    async steps() {
      const conn = await Deno.connect({ hostname: "127.0.0.1", port: steps });
      return await new Response(conn.readable).json();
    },
    async stop() {
      try {
        serving.kill("SIGTERM");
      } catch {
        // It has ended already, which its status tells.
      }
      return await serving.ended;
    },
  };
}

function configuration(folder: string, provider: string, server: Record<string, unknown>) {
  const large = Object.keys(ANSWERS).map((name) => ({ name, id: name.replaceAll(" ", "_") }));
  const route = (name: string, path: string, api = "openai-chat") => ({
    [name]: {
      api,
      base_url: `${provider}${path}/v1`,
      api_key: "soak-provider-key",
      retries: 0,
      breaker: { failures: 1_000_000 },
    },
  });
  const model = (id: string, name: string) => ({
    id,
    routes: [{ provider: name, model: "m" }],
    capabilities: {
      modality_input: ["text", "image", "file"],
      features: ["tools", "structured_outputs", "response_format", "reasoning"],
    },
  });
  return {
    server: { shutdown_grace_seconds: 2, ...server },
    admin_key: ADMIN_KEY,
    store: { url: `sqlite:${folder}/soak.db` },
    providers: Object.assign(
      {},
      route("ordinary", "/ordinary"),
      route("messages", "/ordinary", "anthropic-messages"),
      route("responses", "/ordinary", "openai-responses"),
      ...large.map(({ name, id }) => route(id, `/large/${encodeURIComponent(name)}`)),
    ),
    models: [
      model("ordinary/model", "ordinary"),
      model("hostile/model", "ordinary"),
      model("hostile/messages", "messages"),
      model("hostile/responses", "responses"),
      ...large.map(({ id }) => model(`large/${id}`, id)),
    ],
    dlp_policies: { all: { mode: "mask", answers: "mask" } },
    keys: [
      { name: "ordinary", secret: SECRETS.ordinary },
      { name: "hostile", secret: SECRETS.hostile },
      { name: "screened", secret: SECRETS.screened, dlp_policy: "all" },
    ],
  };
}
