/** The files in `.deploy`: they say what the program understands, and run it. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parse, parseAll } from "@std/yaml/mod.js";
import manifest from "../../deno.json" with { type: "json" };
import { loadConfig } from "../../src/config/load.ts";
import { LAZY_IMPORTS, V8_FLAGS } from "../../src/memory.ts";
import { isInstalled } from "../support/installed.ts";
import { EXPIRED } from "../support/tls.ts";
import { renderChart } from "./chart.ts";

const DEPLOY = new URL("../../.deploy/", import.meta.url);
const ROOT = new URL("../../", import.meta.url).pathname.replace(/\/$/, "");
const CHART = new URL("chart/", DEPLOY);
const read = (name: string) => Deno.readTextFileSync(new URL(name, DEPLOY));
// deno-lint-ignore no-explicit-any
type Loose = any;

async function isThere(program: string): Promise<boolean> {
  const there = await isInstalled(program, "--help");
  if (!there) console.warn(`${program} is not installed: what it would say of .deploy is not known.`);
  return there;
}

async function output(program: string, args: string[]): Promise<{ success: boolean; text: string }> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args }).output();
  return { success, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

const CONFIG = {
  admin_key: "an-admin-key-of-enough-letters",
  server: { port: 0 },
  store: { url: "sqlite:./data/sluice.db" },
  providers: { demo: { api: "demo" } },
  models: [{ id: "demo/small", routes: [{ provider: "demo", model: "small" }] }],
  keys: [{ name: "test", secret: "sk_live_serviceserviceserviceserv01" }],
};

/** The unit as it would be with everything in one folder. */
function unitIn(folder: string): string {
  return read("sluice.service").replaceAll("/usr/local/bin/deno", Deno.execPath())
    .replaceAll("/etc/sluice", `${folder}/etc`).replaceAll("/var/lib/sluice", `${folder}/data`)
    .replaceAll("/opt/sluice/.packages", `${folder}/none`).replaceAll("/opt/sluice", ROOT);
}

Deno.test("the command of the systemd unit serves, with the permissions that it gives, and keeps its data where it may", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "sluice-unit-" }));
  try {
    for (const name of ["etc", "data"]) await Deno.mkdir(`${folder}/${name}`);
    await Deno.writeTextFile(`${folder}/etc/sluice.jsonc`, JSON.stringify(CONFIG));
    const unit = unitIn(folder);
    const line = /^ExecStart=(.*)$/m.exec(unit)![1];
    assertStringIncludes(line, ` ${LAZY_IMPORTS} ${V8_FLAGS} `);
    const [program, ...args] = line.split(" ");
    // Packages of the one who runs the test; a service has them beside the program.
    const packages = JSON.parse((await output(program, ["info", "--json"])).text).denoDir;
    const child = new Deno.Command(program, {
      args: args.map((arg) => arg.startsWith("--allow-read=") ? `${arg},${packages}` : arg),
      cwd: folder + "/data",
      clearEnv: true,
      env: { DENO_DIR: packages, DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const errors = new Response(child.stderr).text();
    let url = "";
    let said = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      said += text;
      url = /listening on (\S+)/.exec(said)?.[1] ?? "";
      if (url !== "") break;
    }
    if (url === "") throw new Error(await errors);
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer sk_live_serviceserviceserviceserv01" },
      body: JSON.stringify({ model: "demo/small", messages: [{ role: "user", content: "hi" }] }),
    });
    assertEquals(response.status, 200, await response.text());
    assert((await Deno.stat(`${folder}/data/data/sluice.db`)).isFile);
    child.kill("SIGTERM");
    const log = await errors;
    assertEquals((await child.status).code, 0, log);
    assert(!/NotCapable|Requires/.test(log), log);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test({
  name: "systemd takes the unit, and finds little that it could do beside its work",
  ignore: !await isThere("systemd-analyze"),
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const path = `${folder}/sluice.service`;
      await Deno.writeTextFile(path, unitIn(folder));
      const { success, text } = await output("systemd-analyze", ["verify", "--man=no", path]);
      // It looks at the units of this machine as well.
      const about = text.split("\n").filter((line) => line.includes("sluice.service"));
      assertEquals(about, [], `${success} ${text}`);
      const security = await output("systemd-analyze", [
        "security",
        "--offline=true",
        "--threshold=25",
        path,
      ]);
      assert(security.success, security.text);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test("the Compose file has a database and two hardened nodes with a journal each", () => {
  const { services, volumes } = parse(read("compose.yaml")) as Loose;
  const { database, ...nodes } = services;
  assertEquals(Object.keys(nodes), ["node1", "node2"]);
  assert(database.healthcheck.test.includes("pg_isready"));
  const ports = new Set<string>();
  const journals = new Set<string>();
  for (const node of Object.values<Loose>(nodes)) {
    assertEquals([node.read_only, node.cap_drop], [true, ["ALL"]]);
    assertEquals(node.depends_on.database.condition, "service_healthy");
    const [config, data] = node.volumes as string[];
    assertEquals(config, "../sluice.jsonc:/app/sluice.jsonc:ro");
    journals.add(data.split(":")[0]);
    ports.add(node.ports[0]);
    const url = node.environment.SLUICE_STORE.replace(/\$\{[^}]*\}/, "word");
    const env = (name: string) => name === "SLUICE_STORE" ? url : undefined;
    assertEquals(loadConfig(JSON.stringify({ ...CONFIG, store: {} }), { env }).config.store.url, url);
  }
  assertEquals([ports.size, journals.size], [2, 2]);
  assertEquals(Object.keys(volumes).sort(), ["database", ...journals].sort());
});

const OVERRIDES = {
  config: { providers: { demo: { api: "demo" } }, models: CONFIG.models },
  secrets: { SLUICE_STORE: "postgres://u:p@db/sluice", SLUICE_ADMIN_KEY: CONFIG.admin_key },
  autoscaling: { enabled: true },
  networkPolicy: { egressPorts: [8888] },
};

Deno.test("the chart renders to a gateway that its own configuration starts", () => {
  const rendered = renderChart(CHART, OVERRIDES) as Record<string, Loose>;
  assertEquals(Object.keys(rendered).sort(), [
    "ConfigMap",
    "Deployment",
    "HorizontalPodAutoscaler",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "Secret",
    "Service",
  ]);
  const secrets: Record<string, string> = rendered.Secret.stringData;
  const { config } = loadConfig(rendered.ConfigMap.data["sluice.jsonc"], { env: (name) => secrets[name] });
  assertEquals([config.adminKey, config.store.url, config.server.metrics], [
    CONFIG.admin_key,
    secrets.SLUICE_STORE,
    "open",
  ]);

  const { spec } = rendered.Deployment;
  const pod = spec.template.spec;
  const [container] = pod.containers;
  assertEquals(spec.replicas, undefined, "the autoscaler decides");
  assertEquals(container.image, `ghcr.io/sluice/sluice:${manifest.version}`);
  assertEquals(container.envFrom[0].secretRef.name, rendered.Secret.metadata.name);
  assertEquals(container.volumeMounts.map(({ mountPath }: Loose) => mountPath), [
    "/app/sluice.jsonc",
    "/app/data",
  ]);
  assertEquals([pod.securityContext.runAsNonRoot, container.securityContext.readOnlyRootFilesystem], [
    true,
    true,
  ]);
  // Streams end before they are ended.
  const { preStop } = container.lifecycle;
  assert(pod.terminationGracePeriodSeconds >= preStop.sleep.seconds + config.server.shutdownGraceMs / 1000);
  assertEquals([container.readinessProbe.httpGet.path, container.livenessProbe.httpGet.path], [
    "/readyz",
    "/healthz",
  ]);
  for (const { metadata } of Object.values(rendered)) {
    assertEquals(metadata.labels["app.kubernetes.io/instance"], "gateway");
  }
  for (
    const selector of [
      spec.selector.matchLabels,
      rendered.Service.spec.selector,
      rendered.PodDisruptionBudget.spec.selector.matchLabels,
      rendered.NetworkPolicy.spec.podSelector.matchLabels,
    ]
  ) {
    for (const [name, value] of Object.entries(selector)) {
      assertEquals(spec.template.metadata.labels[name], value);
    }
  }
  const metric = rendered.HorizontalPodAutoscaler.spec.metrics[0].pods;
  const known = Deno.readTextFileSync(
    new URL("../../src/manual/pages/reference/metrics.md", import.meta.url),
  );
  assertStringIncludes(known, `\`${metric.metric.name}\``);
  assertEquals(metric.target.averageValue, "200");
  const ports = rendered.NetworkPolicy.spec.egress[0].ports.map(({ port }: Loose) => port);
  assertEquals(ports, [53, 53, 443, 5432, 8888]);
});

Deno.test("the chart leaves out what is turned off, and another configuration makes other pods", () => {
  const off = {
    ...OVERRIDES,
    existingSecret: "mine",
    image: { digest: "sha256:abc" },
    autoscaling: { enabled: false },
    podDisruptionBudget: { enabled: false },
    networkPolicy: { enabled: false },
  };
  const rendered = renderChart(CHART, off) as Record<string, Loose>;
  assertEquals(Object.keys(rendered).sort(), ["ConfigMap", "Deployment", "Service"]);
  const { spec } = rendered.Deployment;
  const [container] = spec.template.spec.containers;
  assertEquals([spec.replicas, container.image], [2, "ghcr.io/sluice/sluice@sha256:abc"]);
  assertEquals(container.envFrom[0].secretRef.name, "mine");
  const other = renderChart(CHART, { ...off, config: { ...OVERRIDES.config, logs: "json" } }) as Record<
    string,
    Loose
  >;
  const checksum = (of: Record<string, Loose>) =>
    of.Deployment.spec.template.metadata.annotations["checksum/config"];
  assert(checksum(other) !== checksum(rendered));
});

const HTTPS = {
  config: { server: { tls: { cert: "/run/secrets/tls/tls.crt", key: "/run/secrets/tls/tls.key" } } },
  volumes: [{ name: "tls", secret: { secretName: "gateway-tls" } }],
  volumeMounts: [{ name: "tls", mountPath: "/run/secrets/tls", readOnly: true }],
};

Deno.test("the chart's probes use HTTPS if the configuration does, and volumes are mounted", () => {
  const probes = (overrides: Record<string, unknown>) => {
    const rendered: Record<string, Loose> = renderChart(CHART, { ...OVERRIDES, ...overrides });
    const pod = rendered.Deployment.spec.template.spec;
    const [{ startupProbe, readinessProbe, livenessProbe, volumeMounts }] = pod.containers;
    const schemes = [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet.scheme);
    return { pod, schemes, volumeMounts };
  };
  assertEquals(probes({}).schemes, ["HTTP", "HTTP", "HTTP"]);
  assertEquals(probes({ config: { server: null } }).schemes, ["HTTP", "HTTP", "HTTP"]);
  const { pod, schemes, volumeMounts } = probes(HTTPS);
  assertEquals(schemes, ["HTTPS", "HTTPS", "HTTPS"]);
  assertEquals([volumeMounts.length, volumeMounts.at(-1)], [3, HTTPS.volumeMounts[0]]);
  assertEquals([pod.volumes.length, pod.volumes.at(-1)], [3, HTTPS.volumes[0]]);
  // The image lets the program and its workers read there.
  const grants = [...Deno.readTextFileSync(`${ROOT}/Dockerfile`).matchAll(/--allow-read=([^" ]+)/g)].slice(
    -2,
  );
  for (const [, paths] of grants) {
    assert(paths.split(",").some((path) => HTTPS.config.server.tls.cert.startsWith(`${path}/`)), paths);
  }
});

Deno.test("the chart has the version of the program", () => {
  const { version, appVersion } = parse(Deno.readTextFileSync(new URL("Chart.yaml", CHART))) as Loose;
  assertEquals([version, appVersion], [manifest.version, manifest.version]);
});

/** Every value of the chart in another way, so that each branch of each template is taken. */
const OTHERWISE: Record<string, unknown>[] = [
  { existingSecret: "mine" },
  { image: { digest: "sha256:abc" }, imagePullSecrets: [{ name: "pull" }] },
  { image: { tag: "next" }, replicas: 5 },
  HTTPS,
  { config: { server: null } },
  {
    autoscaling: { enabled: false },
    podDisruptionBudget: { enabled: false },
    networkPolicy: { enabled: false },
  },
  { networkPolicy: { from: [{ podSelector: { matchLabels: { app: "caller" } } }], egressPorts: [] } },
  { service: { type: "LoadBalancer", port: 8443, annotations: { "a.example/b": "c" } } },
  {
    podAnnotations: { "prometheus.io/scrape": "false", "prometheus.io/path": null, "a.example/b": "c" },
    serviceAccountName: "gateway",
    automountServiceAccountToken: true,
    nodeSelector: { disk: "fast" },
    tolerations: [{ key: "only", operator: "Exists" }],
    affinity: { podAntiAffinity: {} },
    resources: { requests: { cpu: "1" } },
  },
];

const hasHelm = await isThere("helm");

Deno.test({
  name: "helm takes the chart",
  ignore: !hasHelm,
  async fn() {
    const { success, text } = await output("helm", ["lint", "--strict", CHART.pathname]);
    assert(success, text);
  },
});

Deno.test({
  name: "helm renders the chart to what these tests look at, for every value",
  ignore: !hasHelm,
  async fn() {
    const values = await Deno.makeTempFile({ suffix: ".json" });
    try {
      for (const other of [{}, ...OTHERWISE]) {
        const overrides = { ...OVERRIDES, ...other };
        await Deno.writeTextFile(values, JSON.stringify(overrides));
        const { success, text } = await output("helm", ["template", "gateway", CHART.pathname, "-f", values]);
        assert(success, text);
        const byHelm = Object.fromEntries((parseAll(text) as Loose[]).map((one) => [one.kind, one]));
        const ours: Record<string, Loose> = renderChart(CHART, overrides);
        for (const all of [byHelm, ours]) {
          // Of a text whose fields stand in another order.
          const { annotations } = all.Deployment.spec.template.metadata;
          for (const name in annotations) if (name.startsWith("checksum/")) annotations[name] = "";
          all.ConfigMap.data["sluice.jsonc"] = JSON.parse(all.ConfigMap.data["sluice.jsonc"]);
        }
        assertEquals(ours, byHelm, JSON.stringify(other));
      }
    } finally {
      await Deno.remove(values);
    }
  },
});

Deno.test("whatever the Dockerfile copies is in the context of the build", async () => {
  const lines = async (name: string) => (await Deno.readTextFile(`${ROOT}/${name}`)).split("\n");
  const rules = (await lines(".dockerignore")).filter((line) => line !== "");
  const within = (path: string, folder: string) =>
    folder === "*" || path === folder || path.startsWith(`${folder}/`);
  // The last rule that fits counts.
  const inContext = (path: string) =>
    rules.findLast((rule) => within(path, rule.replace(/^!/, "")))?.startsWith("!") ?? true;
  const copied = (await lines("Dockerfile")).flatMap((line) =>
    /^COPY (?!--from)(.*)$/.exec(line)?.[1].split(" ").slice(0, -1) ?? []
  );
  assert(copied.includes("src"), copied.join());
  for (const path of copied) {
    await Deno.stat(`${ROOT}/${path}`);
    assert(inContext(path), `${path} is left out of the context by .dockerignore`);
  }
  for (const path of [".git", "data/sluice.db", "sluice.jsonc", "tests", ".deploy/compose.yaml"]) {
    assert(!inContext(path), `${path} is in the context`);
  }
});

Deno.test("the image's health check asks a gateway with and without TLS, and fails where it is not healthy", async () => {
  const dockerfile = (await Deno.readTextFile(`${ROOT}/Dockerfile`)).replaceAll("\\\n", "");
  const [program, ...args] = JSON.parse(/^HEALTHCHECK .*? CMD (\[.*\])$/m.exec(dockerfile)![1]);
  assertEquals(program, "/bin/deno");
  for (const secure of [{}, EXPIRED]) {
    for (const status of [200, 503]) {
      await using server = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen() {}, ...secure },
        ({ url }) => new Response(null, { status: new URL(url).pathname === "/healthz" ? status : 404 }),
      );
      const { code } = await new Deno.Command(Deno.execPath(), {
        args,
        env: { PORT: String(server.addr.port) },
        stderr: "null",
      }).output();
      assertEquals(code, status === 200 ? 0 : 1, `${JSON.stringify(Object.keys(secure))} ${status}`);
    }
  }
});
