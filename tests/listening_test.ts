/** A start on a port that the system keeps from its user. */
import { assertEquals, assertMatch } from "@std/assert";
import { runProgram } from "./support/program.ts";
import { TLS } from "./support/tls.ts";

const PORT = "81";

/** Runs a program that may have ports of root no more; null: they are everybody's here, or nobody can give up that right. */
async function withoutRight(): Promise<readonly string[] | null> {
  if (Deno.build.os !== "linux") return null;
  const first = Deno.readTextFileSync("/proc/sys/net/ipv4/ip_unprivileged_port_start");
  if (Number(first) <= Number(PORT)) return null;
  if (Deno.uid() !== 0) return [];
  const [program, ...args] = ["setpriv", "--inh-caps=-net_bind_service", "--bounding-set=-net_bind_service"];
  const { success } = await new Deno.Command(program, { args: [...args, "true"], stderr: "null" }).output()
    .catch(() => ({ success: false }));
  return success ? [program, ...args] : null;
}

const through = await withoutRight();

for (const scheme of ["http", "https"]) {
  Deno.test({
    name: `a start on a port of root alone says which address it cannot have (${scheme})`,
    ignore: through === null,
    async fn() {
      const cwd = await Deno.makeTempDir();
      await Deno.writeTextFile(`${cwd}/cert.pem`, TLS.cert);
      await Deno.writeTextFile(`${cwd}/key.pem`, TLS.key);
      const { code, err } = await runProgram(["serve", "--port", PORT], {
        cwd,
        through: through!,
        env: {
          SLUICE_CONFIG: JSON.stringify({
            server: {
              hostname: "127.0.0.1",
              ...(scheme === "https" && { tls: { cert: "cert.pem", key: "key.pem" } }),
            },
            store: { url: "sqlite::memory:" },
            providers: { demo: { api: "demo" } },
            models: [{
              id: "demo/a",
              routes: [{ provider: "demo", model: "a" }],
              pricing: { prompt: "0", completion: "0" },
            }],
            keys: [{ name: "k", secret: "sk_live_0123456789abcdef" }],
          }),
        },
      });
      assertMatch(
        err,
        /^Cannot listen: 127\.0\.0\.1:81 may not be taken by this user, .* takes another port\n$/m,
      );
      assertEquals(code, 2);
      await Deno.remove(cwd, { recursive: true });
    },
  });
}
