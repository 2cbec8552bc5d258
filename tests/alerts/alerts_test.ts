/** Alerts from end to end: a gateway whose provider fails, and receivers on loopback. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createHmac } from "node:crypto";
import { leastAnswer } from "../support/answers.ts";
import { loadValue } from "../../src/config/load.ts";
import { testConfig, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually } from "../support/time.ts";
import { mailServer, posts } from "./support.ts";

/**
 * Time that goes on only when it is told to, and no faster than the gateway evaluates its rules: on a busy machine
 * a round takes long, and a window of a minute must not pass between two of them.
 */
class RoundClock {
  time = Date.UTC(2026, 10, 22);
  #looks = 0;

  readonly options = {
    now: () => this.time,
    alertsClock: { now: () => (this.#looks++, this.time) },
    alertsEveryMs: 5,
  };

  /** @param rules how many rules are evaluated in a round: it reads the clock at most twice for each */
  async pass(ms: number, { rules = 1, stepMs = 5000 } = {}): Promise<void> {
    for (const end = this.time + ms; this.time < end;) {
      this.time += stepMs;
      const before = this.#looks;
      await eventually(() => this.#looks >= before + 4 * rules, { what: "a round of the alerts" });
    }
  }
}

const CHAT = { model: "p/model", messages: [{ role: "user", content: "canary-of-the-prompt" }] };

Deno.test("an alert and its recovery reach a webhook, Slack and a mailbox, once each", async () => {
  let down = true;
  const provider = loopbackProvider((seen) =>
    down ? new Response("down", { status: 500 }) : leastAnswer(seen)
  );
  const hook = posts();
  const slack = posts();
  const mail = mailServer();
  const clock = new RoundClock();
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } }, {
    alerts: [{
      name: "errors & <more>",
      when: { metric: "error_rate", above: 0.5, over: "1m", least: 5 },
      for: "10s",
      to: [
        { webhook: hook.url, secret: "whsec" },
        { slack: slack.url },
        { email: ["ops@example.com", "night@example.com"] },
      ],
    }],
    smtp: {
      host: "127.0.0.1",
      port: mail.port,
      security: "none",
      user: "sluice",
      password: "mail-secret",
      from: "sluice@example.com",
    },
  }, clock.options);
  try {
    const ask = async (calls: number) => {
      await Promise.all(Array.from({ length: calls }, async () => {
        await (await gateway.post("/v1/chat/completions", CHAT)).text();
      }));
    };
    const told = () => [hook.got.length, slack.got.length, mail.mails.length];
    const reached = (wanted: number) =>
      eventually(() => told().every((count) => count >= wanted), { what: () => `${wanted}, not ${told()}` });
    for (let i = 0; i < 3; i++) await ask(100);
    await clock.pass(30_000);
    await reached(1);
    down = false;
    // What failed is out of the time that is looked at.
    await clock.pass(120_000);
    await ask(50);
    await clock.pass(30_000);
    await reached(2);
    await clock.pass(600_000, { stepMs: 30_000 });
    assertEquals(told(), [2, 2, 2]);

    const [first, second] = hook.got.map(({ text }) => JSON.parse(text));
    assertEquals([first.type, second.type], ["alert.firing", "alert.recovered"]);
    assertEquals(first.data.rule, "errors & <more>");
    assertEquals([first.data.metric, first.data.above, first.data.value, first.data.ends], [
      "error_rate",
      0.5,
      1,
      null,
    ]);
    assert(second.data.ends > second.data.starts);
    for (const { headers, text } of hook.got) {
      const signed = `sha256=${createHmac("sha256", "whsec").update(text).digest("hex")}`;
      assertEquals(headers.get("x-svc-signature"), signed);
    }
    assertMatch(
      JSON.parse(slack.got[0].text).text,
      /^ALERT errors &amp; &lt;more&gt;\nerror_rate is 1, and the limit is 0\.5\./,
    );
    assertMatch(JSON.parse(slack.got[1].text).text, /^RECOVERED errors/);
    const [{ from, to, data, auth }] = mail.mails;
    assertMatch(from, /<sluice@example\.com>/);
    assertEquals(to.map((one) => one.replace(/[<> ]/g, "")), ["ops@example.com", "night@example.com"]);
    assertMatch(data, /^Subject: ALERT errors & <more>$/m);
    assertEquals(auth, "\0sluice\0mail-secret");
    const all = [...hook.got, ...slack.got].map(({ text }) => text).join() + data + gateway.logged.join();
    assert(!all.includes("canary") && !all.includes("mail-secret") && !all.includes("whsec"));
  } finally {
    await gateway.close();
    await provider.close();
    await hook.close();
    await slack.close();
    mail.close();
  }
});

Deno.test("rules that come with a reload count from then on, and rules that stay go on", async () => {
  const provider = loopbackProvider(() => new Response("down", { status: 500 }));
  const hook = posts();
  const clock = new RoundClock();
  const providers = { p: { api: "openai-chat" as const, url: `${provider.url}/v1` } };
  const rule = (name: string) => ({
    name,
    when: { metric: "error_rate", above: 0.5, over: "1m", least: 5 },
    for: "10s",
    to: [{ webhook: hook.url, secret: "whsec" }],
  });
  const gateway = await testGateway(providers, {}, clock.options);
  const told = () =>
    hook.got.map(({ text }) => JSON.parse(text)).map(({ type, data }) => `${data.rule} ${type}`);
  const reload = async (...rules: unknown[]) => {
    const { config } = loadValue(testConfig(providers, { alerts: rules }), { env: () => undefined });
    await gateway.gateway.reload(config, []);
  };
  const fail = async () => {
    await Promise.all(Array.from({ length: 20 }, async () => {
      await (await gateway.post("/v1/chat/completions", CHAT)).text();
    }));
  };
  try {
    await fail();
    await reload(rule("a"));
    await clock.pass(300_000);
    assertEquals(told(), []);
    await fail();
    await clock.pass(30_000);
    await eventually(() => told().length === 1);
    await reload(rule("a"), rule("b"));
    await clock.pass(30_000, { rules: 2 });
    assertEquals(told(), ["a alert.firing"]);
    // Without calls the rate is unknown, and the alert ends after ten minutes of that.
    await clock.pass(900_000, { rules: 2, stepMs: 30_000 });
    await eventually(() => told().length === 2);
    assertEquals(told(), ["a alert.firing", "a alert.recovered"]);
  } finally {
    await gateway.close();
    await provider.close();
    await hook.close();
  }
});
