/** A fleet that is rolled from 0.1.0 to this program under load, over one database: nothing is lost, nothing is counted twice. */
import { assert, assertEquals } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { makeCluster, postgresHere } from "../support/cluster.ts";
import { runProgram, serveProgram, type Serving } from "../support/program.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually, nextTurn } from "../support/time.ts";

/** The commit that 0.1.0 is; a clone without history does not have it. */
const RELEASED = "b709df8";
const ROOT = new URL("../../", import.meta.url).pathname;
const SECRET = "sk_live_rollingrollingrollingrollin01";
const ADMIN = "an-admin-key-of-enough-letters";
const CALLERS = 6;
/** Answers of every node that a step waits for. */
const ENOUGH = 25;

const git = (...args: string[]) =>
  new Deno.Command("git", { args: ["-C", ROOT, ...args], stdout: "null", stderr: "null" }).output();

async function isReleasedHere(): Promise<boolean> {
  const here = await git("cat-file", "-e", `${RELEASED}^{commit}`).then(
    ({ success }) => success,
    () => false,
  );
  if (!here) console.warn("The history of 0.1.0 is not in this clone: the rolling upgrade is not tried.");
  return here;
}

/** A node, and the calls that it has answered and has to. */
interface Node {
  serving: Serving;
  answered: number;
  running: number;
}

Deno.test({
  name: "nodes of 0.1.0 are replaced one by one under load, and every answer has one record and one charge",
  ignore: postgresHere === null || !await isReleasedHere(),
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "sluice-rolling-" });
    const cluster = await makeCluster();
    const provider = loopbackProvider(leastAnswer);
    const alive = new Set<Node>();
    let callers: Promise<unknown> = Promise.resolve();
    let going = true;
    try {
      await git("archive", "--format=tar", `--output=${folder}/released.tar`, RELEASED, "src", "deno.json");
      await Deno.mkdir(`${folder}/released`);
      const args = ["-xf", `${folder}/released.tar`, "-C", `${folder}/released`];
      assert((await new Deno.Command("tar", { args }).output()).success);
      let made = 0;
      const configOf = (name: string) =>
        JSON.stringify({
          admin_key: ADMIN,
          store: { url: cluster.url, journal: `${folder}/${name}` },
          providers: { p: { api: "openai-chat", base_url: `${provider.url}/v1`, api_key: "key" } },
          models: [{
            id: "p/model",
            routes: [{ provider: "p", model: "m" }],
            pricing: { prompt: "0.001", completion: "0.01" },
          }],
          accounts: [{ name: "default", credits: "1000.00" }],
          keys: [{ name: "test", secret: SECRET }],
        });
      const start = async (root: string): Promise<Node> => {
        const env = { SLUICE_CONFIG: configOf(`node${++made}`) };
        const node = { serving: await serveProgram([], { cwd: folder, root, env }), answered: 0, running: 0 };
        alive.add(node);
        return node;
      };
      const old = () => start(`${folder}/released/`);
      const present = () => start(ROOT);

      let taking: Node[] = await Promise.all([old(), old()]);
      const ids: string[] = [];
      const failures: string[] = [];
      const caller = async (turn: number) => {
        for (; going; turn++) {
          const node = taking[turn % taking.length];
          node.running++;
          const response = await fetch(`${node.serving.url}/v1/chat/completions`, {
            method: "POST",
            headers: { authorization: `Bearer ${SECRET}` },
            body: JSON.stringify({
              model: "p/model",
              max_tokens: 16,
              messages: [{ role: "user", content: "hi" }],
            }),
          });
          const text = await response.text();
          node.running--;
          node.answered++;
          if (response.status === 200) ids.push(response.headers.get("x-request-id")!);
          else failures.push(text);
        }
      };
      callers = Promise.all(Array.from({ length: CALLERS }, (_, i) => caller(i)));
      /** Every node that takes calls has answered some more. */
      const worked = async () => {
        const before = taking.map(({ answered }) => answered);
        const nodes = taking;
        await Promise.race([
          callers,
          eventually(() => nodes.every(({ answered }, i) => answered >= before[i] + ENOUGH)),
        ]);
      };
      const end = async (node: Node) => {
        taking = taking.filter((other) => other !== node);
        await nextTurn();
        await eventually(() => node.running === 0);
        node.serving.kill("SIGTERM");
        alive.delete(node);
        assertEquals(await node.serving.ended, 0, node.serving.err());
      };
      await worked();
      const [first, second] = taking;
      // The present program changes the schema below those that run.
      taking = [first, second, await present()];
      await worked();
      await end(first);
      taking = [...taking, await present()];
      await worked();
      await end(second);
      await worked();
      going = false;
      await callers;
      assertEquals(failures, []);

      const [node] = taking;
      const ask = async (path: string) =>
        await (await fetch(node.serving.url + path, { headers: { authorization: `Bearer ${ADMIN}` } }))
          .json();
      const [usage] = await eventually(async () => {
        const { data } = await ask("/admin/usage?by=model");
        return data[0]?.generations >= ids.length ? data : null;
      });
      const cost = (ids.length * 13 / 1000).toFixed(3).replace(/\.?0+$/, "");
      assertEquals([usage.generations, usage.output_tokens, usage.cost], [ids.length, ids.length, cost]);
      assertEquals((await ask("/admin/accounts/default/credits")).spent, cost);
      const recorded: string[] = [];
      for (let cursor = "";;) {
        const page = await ask(`/admin/generations?limit=1000${cursor && `&cursor=${cursor}`}`);
        recorded.push(...page.data.map(({ id }: { id: string }) => id));
        if (page.next_cursor === null) break;
        cursor = encodeURIComponent(page.next_cursor);
      }
      assertEquals(recorded.sort(), ids.sort());
      for (const last of [...alive]) await end(last);
      const verified = await runProgram(["ledger", "verify"], {
        cwd: folder,
        env: { SLUICE_CONFIG: configOf("verify") },
      });
      assertEquals(verified.code, 0, verified.out + verified.err);
      // The release before says that it is too old, and touches nothing.
      const late = await runProgram([], {
        cwd: folder,
        root: `${folder}/released/`,
        env: { SLUICE_CONFIG: configOf("late"), PORT: "0" },
      });
      assertEquals(late.code, 2, late.out + late.err);
    } finally {
      going = false;
      await callers.catch(() => {});
      for (const { serving } of alive) serving.kill("SIGKILL");
      await Promise.all([...alive].map(({ serving }) => serving.ended));
      await provider.close();
      await cluster.remove();
      await Deno.remove(folder, { recursive: true });
    }
  },
});
