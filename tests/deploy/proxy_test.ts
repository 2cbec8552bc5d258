/** The proxies whose settings the manual has, with these settings, in front of a gateway: clients, streams and the end work as without. */
import { assert, assertEquals } from "@std/assert";
import { PAGES } from "../../src/manual/pages.ts";
import { freePort } from "../support/cluster.ts";
import { isInstalled } from "../support/installed.ts";
import { assertBilled, doesItsJob } from "../support/main_job.ts";
import { runProgram, serveProgram } from "../support/program.ts";
import { SocketClient } from "../support/socket_client.ts";
import { eventually } from "../support/time.ts";

const SECRET = "sk_live_behindproxybehindproxybehind01";
const ADMIN = "an-admin-key-of-enough-letters";
const CONFIG = {
  admin_key: ADMIN,
  providers: { demo: { api: "demo" } },
  models: [{
    id: "demo/small",
    routes: [{ provider: "demo", model: "small" }],
    pricing: { prompt: "0.001", completion: "0.001" },
  }],
  keys: [{ name: "test", secret: SECRET }],
};
const { text: PAGE } = PAGES.find(({ name }) => name === "operation")!;

/** A fenced block of the page. */
function block(language: string): string {
  return new RegExp("```" + language + "\n([^]*?)```").exec(PAGE)![1];
}

interface Proxy {
  program: string;
  /** Writes what it needs into the folder; answers its arguments. */
  prepare(folder: string, port: number, upstream: string): Promise<string[]>;
}

const PROXIES: Proxy[] = [
  {
    program: "nginx",
    async prepare(folder, port, upstream) {
      const settings = block("nginx").replace("server 127.0.0.1:8787;", `server ${upstream};`)
        .replace("listen 443 ssl;", `listen 127.0.0.1:${port};`);
      const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) =>
        `${name}_temp_path ${folder}/${name};`
      );
      await Deno.writeTextFile(
        `${folder}/nginx.conf`,
        `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
http { access_log off; ${paths.join(" ")} ${settings} }`,
      );
      return ["-c", `${folder}/nginx.conf`, "-p", folder, "-e", `${folder}/error.log`];
    },
  },
  {
    program: "caddy",
    async prepare(folder, port, upstream) {
      const settings = block("caddyfile").replace("gateway.example.com", `http://127.0.0.1:${port}`)
        .replace("127.0.0.1:8787", upstream);
      await Deno.writeTextFile(`${folder}/Caddyfile`, `{ \n admin off \n}\n${settings}`);
      return ["run", "--config", `${folder}/Caddyfile`, "--adapter", "caddyfile"];
    },
  },
];

async function isHere(program: string): Promise<boolean> {
  const here = await isInstalled(program, program === "nginx" ? "-v" : "version");
  if (!here) console.warn(`${program} is not installed: the gateway behind it is not tried.`);
  return here;
}

for (const { program, prepare } of PROXIES) {
  Deno.test({
    name: `a gateway behind ${program}, set up as the manual says, serves, bills and ends well`,
    ignore: !await isHere(program),
    async fn() {
      const folder = await Deno.makeTempDir({ prefix: "sluice-proxy-" });
      await Deno.chmod(folder, 0o755);
      await Deno.writeTextFile(`${folder}/sluice.json`, JSON.stringify(CONFIG));
      const gateway = await serveProgram(["--config", "sluice.json"], { cwd: folder });
      const port = freePort();
      const args = await prepare(folder, port, new URL(gateway.url).host);
      const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
      const proxy = new Deno.Command(program, { args, env, stdin: "null", stdout: "null", stderr: "null" })
        .spawn();
      try {
        const url = `http://127.0.0.1:${port}`;
        await eventually(() => fetch(`${url}/readyz`).then(async (r) => (await r.text(), r.ok), () => false));
        const socket = await SocketClient.open(url, { authorization: `Bearer ${SECRET}` });
        const turn = await socket.turn({ model: "demo/small", input: "hi" });
        assertEquals(turn.at(-1).type, "response.completed");
        await socket.close();
        const ids = await doesItsJob({
          url,
          secret: SECRET,
          adminKey: ADMIN,
          model: "demo/small",
          stop: () => gateway.kill("SIGTERM"),
          ended: gateway.ended,
        });
        ids.push(turn.at(-1).response.id);
        const { out } = await runProgram(["generations", "--json", "--config", "sluice.json"], {
          cwd: folder,
        });
        assertBilled(ids, JSON.parse(out).data);
        assert(!gateway.err().includes("panicked"));
      } finally {
        proxy.kill("SIGTERM");
        await proxy.status;
        await Deno.remove(folder, { recursive: true });
      }
    },
  });
}
