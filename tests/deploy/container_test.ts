/**
 * The image that the Dockerfile makes, where there is one: `docker build -t sluice .` (or podman) has to be run before. It is
 * started as the manual says, with a read-only root.
 */
import { assert, assertEquals } from "@std/assert";
import { freePort } from "../support/cluster.ts";
import { assertBilled, doesItsJob } from "../support/main_job.ts";
import { eventually } from "../support/time.ts";

const SECRET = "sk_live_containercontainercontainer01";
const ADMIN = "an-admin-key-of-enough-letters";
const MOST_BYTES = 200e6;

async function output(program: string, args: string[]): Promise<{ code: number; out: string; err: string }> {
  try {
    const { code, stdout, stderr } = await new Deno.Command(program, { args }).output();
    return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
  } catch {
    return { code: 127, out: "", err: "" };
  }
}

/** The program that has the image; null: none. */
async function engineHere(): Promise<string | null> {
  for (const program of ["docker", "podman"]) {
    if ((await output(program, ["image", "inspect", "sluice"])).code === 0) return program;
  }
  console.warn("No image `sluice` is here (docker build -t sluice .): the container is not tried.");
  return null;
}

const engine = await engineHere();

/** Of the engine, which must succeed. */
async function run(...args: string[]): Promise<string> {
  const { code, out, err } = await output(engine!, args);
  assertEquals(code, 0, `${args.join(" ")}: ${err}`);
  return out.trim();
}

Deno.test({
  name: "the image is small, has no shell, and runs as nobody in particular",
  ignore: engine === null,
  async fn() {
    const [{ Config, Size }] = JSON.parse(await run("image", "inspect", "sluice"));
    assertEquals([Config.User, Object.keys(Config.Volumes)], ["65532:65532", ["/app/data"]]);
    assert(Size <= MOST_BYTES, `${Size} bytes`);
    const shell = await output(engine!, ["run", "--rm", "--network=none", "--entrypoint=/bin/sh", "sluice"]);
    assert(shell.code > 125, shell.err);
  },
});

Deno.test({
  name: "a container with a read-only root and an empty volume serves, bills and ends well",
  ignore: engine === null,
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "sluice-container-" });
    const name = folder.split("/").at(-1)!;
    const port = freePort();
    try {
      await Deno.writeTextFile(
        `${folder}/sluice.jsonc`,
        JSON.stringify({
          admin_key: ADMIN,
          providers: { demo: { api: "demo" } },
          models: [{
            id: "demo/small",
            routes: [{ provider: "demo", model: "small" }],
            pricing: { prompt: "0.001", completion: "0.001" },
          }],
          // A pattern of one's own needs a thread, and several workers need programs to be started.
          server: { workers: 2 },
          dlp_policies: { own: { mode: "alert", regexes: [{ name: "order", pattern: "AB-\\d{4}" }] } },
          keys: [{ name: "test", secret: SECRET, dlp_policy: "own" }],
        }),
      );
      await Deno.chmod(folder, 0o755);
      await Deno.chmod(`${folder}/sluice.jsonc`, 0o644);
      const volumes = ["-v", `${folder}/sluice.jsonc:/app/sluice.jsonc:ro`, "-v", `${name}:/app/data`];
      await run(
        ...["run", "-d", "--name", name, "--read-only", "--cap-drop=ALL"],
        ...["--security-opt=no-new-privileges", "-p", `127.0.0.1:${port}:8787`, ...volumes, "sluice"],
      );
      const url = `http://127.0.0.1:${port}`;
      await eventually(() => fetch(`${url}/readyz`).then(({ ok }) => ok, () => false));
      const [{ Config, Healthcheck = Config.Healthcheck }] = JSON.parse(
        await run("image", "inspect", "sluice"),
      );
      const [kind, ...health] = Healthcheck.Test;
      assertEquals(kind, "CMD");
      await run("exec", name, ...health);
      const inside = (code: string) => run("exec", name, "/bin/deno", "eval", code);
      assertEquals(await inside(`console.log(Deno.uid(), Deno.gid())`), "65532 65532");
      const wrote = `try { Deno.writeTextFileSync("/app/x", "") } catch (e) { console.log(e.message) }`;
      assert((await inside(wrote)).includes("Read-only"));
      const ids = await doesItsJob({
        url,
        secret: SECRET,
        adminKey: ADMIN,
        model: "demo/small",
        stop: () => run("stop", "-t", "70", name),
        ended: run("wait", name).then(Number),
      });
      await run("start", name);
      await eventually(async () => {
        const bills = await fetch(`${url}/admin/generations?limit=50`, {
          headers: { authorization: `Bearer ${ADMIN}` },
        }).then((r) => r.json(), () => null);
        if (bills === null) return false;
        assertBilled(ids, bills.data);
        return true;
      });
    } finally {
      await output(engine!, ["rm", "-f", "-v", name]);
      await output(engine!, ["volume", "rm", name]);
      await Deno.remove(folder, { recursive: true });
    }
  },
});
