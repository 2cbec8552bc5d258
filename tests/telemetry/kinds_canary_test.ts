/**
 * Calls of every kind at every provider API, with words and secrets that are found nowhere where operators look: not in logs,
 * traces, metrics, alerts, audit, the administration and the store; in the payload log only encrypted, of the key that it is on for,
 * and not after its time. Each of the protocols of OTLP has a gateway of its own.
 */
import { assert, assertEquals } from "@std/assert";
import { openPayloads } from "../../src/payloads/mod.ts";
import { PAYLOADS } from "../../src/payloads/config.ts";
import { mailServer, posts } from "../alerts/support.ts";
import { S3_KEYS, s3Server } from "../payloads/s3_server.ts";
import { formsOf } from "../support/forms.ts";
import { CLIENT, oidcProvider } from "../support/oidc_provider.ts";
import { serveProgram } from "../support/program.ts";
import { eventually } from "../support/time.ts";
import { type Api, APIS, type Caller, formatOf, KINDS } from "./kinds.ts";
import { kindsEngine, kindsProvider, SECRETS, WORDS } from "./kinds_provider.ts";
import { AT_THE_END, exporting, latin1, otlpReceiver } from "./receiver.ts";
import { administration, BUCKET, configuration, grpcReceiver, OWN, storeOf, watch } from "./kinds_rig.ts";

/** Rounds over all kinds and APIs: with three protocols more than a thousand calls. */
const ROUNDS = 3;
const AT_ONCE = 6;
const DAY_MS = 86_400_000;

for (
  const [protocol, storeKind] of [["http/json", "sqlite"], ["http/protobuf", "postgres"], [
    "grpc",
    "sqlite",
  ]] as const
) {
  Deno.test(`calls of every kind leave no word and no secret where operators look, with traces by ${protocol}`, async () => {
    const provider = kindsProvider();
    const engine = kindsEngine();
    const [slack, hook, mail] = [posts(), posts(), mailServer()];
    const s3 = s3Server(BUCKET);
    const client = { id: CLIENT.id, secret: OWN.oidc, token: OWN.access };
    const issuer = await oidcProvider("127.0.0.1", client);
    issuer.person = { sub: "someone", groups: ["admins"], preferred_username: "Someone" };
    const receiver = protocol === "grpc" ? grpcReceiver() : otlpReceiver();
    const cwd = await Deno.makeTempDir();
    const store = await storeOf(storeKind, cwd);
    const program = await serveProgram(["serve"], {
      cwd,
      env: {
        ...exporting({ url: receiver.url }),
        ...AT_THE_END,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${OWN.collector}`,
        SLUICE_CONFIG: JSON.stringify(configuration({
          provider: provider.url,
          engine: engine.url,
          hook: hook.url,
          slack: slack.url,
          mailPort: mail.port,
          store: store.url,
          s3: s3.url,
          issuer: issuer.issuer,
        })),
      },
    });
    const live = await watch(program);
    let running = true;
    const end = async () => {
      if (!running) return;
      running = false;
      program.kill("SIGTERM");
      assertEquals(await program.ended, 0);
    };
    try {
      const caller: Caller = { url: program.url, provider, engine, errors: [] };
      const made = new Map<string, number>();
      const work = Array.from(
        { length: ROUNDS },
        (_, round) =>
          APIS.flatMap((api, a) =>
            Object.keys(KINDS).map((kind, k) => ({ kind, api, format: formatOf(round + a + k) }))
          ),
      )
        .flat();
      let calls = 0;
      const one = async (): Promise<void> => {
        for (let next = work.shift(); next !== undefined; next = work.shift()) {
          const ask: { api: Api; format: ReturnType<typeof formatOf>; ticket: string; caller: Caller } = {
            ...next,
            ticket: `ticket-${++calls * 10}`,
            caller,
          };
          try {
            await KINDS[next.kind](ask);
          } catch (error) {
            throw new Error(
              `a call ${next.kind} at ${next.api} as ${next.format}: ${(error as Error).message}`,
            );
          }
          const name = `${next.kind} at ${next.api}`;
          made.set(name, (made.get(name) ?? 0) + 1);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, one));
      assertEquals(made.size, Object.keys(KINDS).length * APIS.length);
      assert([...made.values()].every((count) => count === ROUNDS));
      assert(calls >= 360, `${calls} calls`);

      await eventually(() => [slack.got, hook.got, mail.mails].every(({ length }) => length > 0));
      const kept = 2 * APIS.length * ROUNDS;
      await eventually(() => s3.objects.size >= kept);
      const { pages, created } = await administration(program, issuer);
      await eventually(() => APIS.every((api) => live.text().includes(`${api}/m`)));
      await live.stop();
      const before = await store.bytes();
      await end();

      const places: Record<string, string> = {
        "the log": program.out(),
        "standard error": program.err(),
        "the administration": pages,
        "the live view": live.text(),
        "what was exported": receiver.raw.join("\n"),
        Slack: slack.got.map(({ text }) => text).join("\n"),
        "the webhook": hook.got.map(({ text, headers }) => text + [...headers]).join("\n"),
        mails: mail.mails.map(({ data }) => data).join("\n"),
        "the store": before + await store.bytes(),
        "the storage of payloads": [...s3.objects].map(([name, bytes]) => name + latin1(bytes)).join("\n"),
      };
      // Something of each call is in each of them.
      for (const place of ["the log", "the administration", "what was exported", "the store"]) {
        for (const api of APIS) assert(places[place].includes(api), `${api} is not in ${place}`);
      }
      const lines = program.out().split("\n").filter((line) => line.includes('"event":"generation"'));
      for (const api of APIS) {
        for (const status of ["completed", "failed"]) {
          const found = lines.some((line) =>
            line.includes(`"model":"${api}/m"`) && line.includes(`"status":"${status}"`)
          );
          assert(found, `no ${status} generation of ${api} is in the log`);
        }
      }
      const [token, key, code, session, flow] = created;
      const everything = { ...WORDS, ...SECRETS, ...OWN, token, key, code, session, flow };
      for (const [place, text] of Object.entries(places)) absent(text, place, everything);
      // A caller may read its own words in an error, and none of these.
      const {
        wrong: _,
        open: _open,
        strict: _strict,
        masked: _masked,
        kept: _kept,
        vendor: _vendor,
        ...ours
      } = SECRETS;
      absent(caller.errors.join("\n"), "errors", { ...ours, ...OWN });
      assert(caller.errors.length > 50);

      const payloads = (now: number) =>
        openPayloads(
          PAYLOADS.parse({
            to: `s3://${BUCKET}/x`,
            endpoint: s3.url,
            region: "eu-central-1",
            key: OWN.payloads,
            ...S3_KEYS,
          }),
          {
            env: () => undefined,
            now: () => now,
            sweeps: false,
            warn(line) {
              throw new Error(line);
            },
          },
        );
      const log = await payloads(Date.now());
      const opened = await Promise.all(
        [...s3.objects.keys()].map(async (name) => JSON.stringify(await log.read(name.split("/").at(-1)!))),
      );
      await log.close();
      assertEquals(opened.length, kept);
      for (const text of opened) {
        assert(text.includes(WORDS.prompt) && text.includes(WORDS.answer), text);
        absent(text, "a payload", { ...SECRETS, ...OWN, baggage: WORDS.baggage, cookie: WORDS.cookie });
      }
      const later = await payloads(Date.now() + 40 * DAY_MS);
      await later.sweep();
      await later.close();
      assertEquals(s3.objects.size, 0);
    } finally {
      await end();
      await Promise.all(
        [provider, engine, slack, hook, s3, issuer, receiver, store].map((one) => one.close()),
      );
      mail.close();
      await Deno.remove(cwd, { recursive: true });
    }
  });
}

/** None of these is in a text, in none of the ways in which it may be written. */
function absent(text: string, place: string, words: Record<string, string>): void {
  for (const [what, word] of Object.entries(words)) {
    for (const form of formsOf(word)) {
      const at = text.indexOf(form);
      assert(at < 0, `${what} as ${form} is in ${place}: ${text.slice(Math.max(0, at - 300), at + 80)}`);
    }
  }
}
