import { parseArgs } from "node:util";
import { ANSWERS } from "./answers.ts";
import { SECRETS, startGateway } from "./gateway.ts";
import type { OrdinaryReport, OrdinarySetup } from "./ordinary.ts";
import { FORMATS, requestOf, SHAPES } from "./requests.ts";
const { values } = parseArgs({
  args: Deno.args,
  options: {
    only: { type: "string" },
    format: { type: "string" },
    key: { type: "string" },
    over: { type: "string", default: "100" },
    model: { type: "string" },
    answers: { type: "boolean" },
    count: { type: "boolean" },
  },
});
const folder = await Deno.makeTempDir({ prefix: "sluice-soak-" });
const child = new Deno.Command(Deno.execPath(), {
  args: ["run", "-A", "--no-check", new URL("provider.ts", import.meta.url).pathname],
  stdout: "piped",
  stderr: "inherit",
}).spawn();
const reader = child.stdout.getReader();
const port = new TextDecoder().decode((await reader.read()).value).trim().split(" ")[1];
const gateway = await startGateway(folder, `http://127.0.0.1:${port}`);
const worker = new Worker(new URL("ordinary.ts", import.meta.url), { type: "module" });
worker.postMessage({ url: gateway.url, secret: SECRETS.ordinary } satisfies OrdinarySetup);
const report = () =>
  new Promise<OrdinaryReport>((resolve) => {
    worker.onmessage = (e) => resolve(e.data);
    worker.postMessage("report");
  });
const pause = (ms: number) => new Promise((r) => setTimeout(r, ms));
await pause(1500);
await report();
await pause(1000);
const idle = await report();
console.log("idle", Math.max(...idle.health).toFixed(), Math.max(...idle.calls).toFixed(), idle.failures);
async function one(name: string, send: () => Promise<Response>) {
  await report();
  gateway.forgetPeak();
  const before = gateway.memory().now;
  const begun = performance.now();
  let status = 0, text = "";
  try {
    const r = await send();
    status = r.status;
    text = await r.text();
  } catch (e) {
    text = String(e);
  }
  const took = performance.now() - begun;
  await pause(60);
  const { health, calls, failures } = await report();
  const peak = gateway.memory().peak;
  const worst = Math.max(...health, ...calls);
  if (worst > Number(values.over) || peak - before > 500e6 || failures.length) {
    console.log(
      `${worst.toFixed().padStart(6)} health ${Math.max(...health).toFixed()} call ${
        Math.max(...calls).toFixed()
      } | took ${took.toFixed()} | +${((peak - before) / 1e6).toFixed()} MB | ${status} ${name} ${
        status > 299 ? text.slice(0, 150).replaceAll("\n", " ") : ""
      } ${failures.slice(0, 2)}`,
    );
  }
}
if (!values.answers) {
  for (const key of values.key ? [values.key] : ["hostile", "screened"]) {
    for (const shape of SHAPES) {
      if (values.only && !new RegExp(values.only).test(shape.name)) continue;
      for (const format of FORMATS) {
        if (values.format && values.format !== format) {
          continue;
        }
        const r = requestOf(shape, format, values.model ? { model: values.model } : {});
        await one(
          `${key} ${format} ${shape.name}`,
          () =>
            fetch(values.count ? gateway.url + "/v1/messages/count_tokens" : gateway.url + r.path, {
              method: "POST",
              body: r.body,
              headers: {
                authorization: `Bearer ${SECRETS[key as "hostile"]}`,
                "content-type": "application/json",
                ...(r.gzip && { "content-encoding": "gzip" }),
              },
            }),
        );
      }
    }
  }
} else {for (const key of values.key ? [values.key] : ["hostile", "screened"]) {
    for (const name of Object.keys(ANSWERS)) {
      for (const stream of [false, true]) {
        if (values.only && !new RegExp(values.only).test(name)) {
          continue;
        }
        for (const format of FORMATS) {
          if (values.format && values.format !== format) continue;
          const r = requestOf(
            {
              name: "",
              fields: (f) =>
                f === "responses" ? { input: "Hi" } : { messages: [{ role: "user", content: "Hi" }] },
            },
            format,
            { model: `large/${name.replaceAll(" ", "_")}`, stream },
          );
          await one(
            `${key} ${format} answer ${name} ${stream ? "stream" : ""}`,
            () =>
              fetch(gateway.url + r.path, {
                method: "POST",
                body: r.body,
                headers: {
                  authorization: `Bearer ${SECRETS[key as "hostile"]}`,
                  "content-type": "application/json",
                },
              }),
          );
        }
      }
    }
  }}
console.log(
  "now",
  gateway.memory().now / 1e6,
  "fds",
  gateway.descriptors(),
  (await gateway.metrics()).split("\n").filter((l) => l.includes("held_seconds_bucket")).map((l) =>
    l.slice(36)
  ).join("\n"),
);
worker.terminate();
console.log(await gateway.stop(), gateway.err().slice(0, 1000));
child.kill();
await Deno.remove(folder, { recursive: true });
Deno.exit(0);
