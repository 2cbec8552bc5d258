/** What receivers are sent, and what they cannot make the gateway do: other hosts, other lines in a head, waits without end. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { ALERTS, SMTP } from "../../src/alerts/config.ts";
import { type AlertReceiver, receiversOf } from "../../src/alerts/receivers.ts";
import { subjectOf, textOf } from "../../src/alerts/text.ts";
import type { AlertEvent } from "../../src/store/mod.ts";
import { mailServer, posts } from "./support.ts";
import { OTHER, TLS } from "../support/tls.ts";

const EVENT: AlertEvent = {
  event: "alert.firing",
  rule: "errors",
  group: { model: "a/b" },
  metric: "error_rate",
  above: 0.05,
  value: 0.51239,
  starts: Date.UTC(2026, 0, 1),
  ends: null,
};
const DELIVERY = { id: "evt_1", created: EVENT.starts, data: EVENT };

function receiver(to: Record<string, unknown>, smtp: Record<string, unknown> | null = null): AlertReceiver {
  const rules = ALERTS.parse([{ name: "r", when: { metric: "error_rate" }, to: [to] }]);
  return receiversOf(
    rules,
    smtp && SMTP.parse({ host: "127.0.0.1", from: "sluice@example.com", ...smtp }),
  )[0];
}

const never = () => new AbortController().signal;

Deno.test("a redirect is not followed, neither of a webhook nor of Slack", async () => {
  const inner = posts();
  const outer = posts(() => Response.redirect(inner.url, 307));
  try {
    for (const to of [{ webhook: outer.url, secret: "s" }, { slack: outer.url }]) {
      assertEquals(await receiver(to).send(DELIVERY, never()), "it answered with status 307");
    }
    assertEquals([outer.got.length, inner.got.length], [2, 0]);
  } finally {
    await outer.close();
    await inner.close();
  }
});

Deno.test("a receiver that hangs is left once its time is over", async () => {
  const gate = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async () => {
    await gate.promise;
    return new Response();
  });
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  try {
    for (
      const [to, smtp] of [
        [{ slack: `http://127.0.0.1:${server.addr.port}/` }, null],
        [{ email: ["a@example.com"] }, { port: listener.addr.port, security: "none" }],
      ] as const
    ) {
      const aborter = new AbortController();
      const sending = receiver(to, smtp).send(DELIVERY, aborter.signal);
      aborter.abort();
      assert(await sending !== null);
    }
  } finally {
    gate.resolve();
    listener.close();
    await server.shutdown();
  }
});

Deno.test("names cannot add lines to a mail's head, nor markup to Slack, and long ones are cut", async () => {
  const mail = mailServer();
  const slack = posts();
  const evil: AlertEvent = {
    ...EVENT,
    rule: "x\r\nBcc: thief@example.com\r\n\r\nbody\u2028\u202e",
    group: { model: `<!channel>${"m".repeat(100_000)}\n.\nQUIT` },
  };
  try {
    const to = receiver({ email: ["ops@example.com"] }, { port: mail.port, security: "none" });
    assertEquals(await to.send({ ...DELIVERY, data: evil }, never()), null);
    assertEquals(await receiver({ slack: slack.url }).send({ ...DELIVERY, data: evil }, never()), null);
    const [{ to: recipients, data }] = mail.mails;
    assertEquals(recipients.length, 1);
    const head = data.slice(0, data.indexOf("\n\n"));
    assert(!/^Bcc:/mi.test(head), head);
    assertEquals(head.match(/^To:.*$/mg), ["To: ops@example.com"]);
    assert(data.length < 5000);
    const { text } = JSON.parse(slack.got[0].text);
    assert(!text.includes("<!channel>") && text.includes("&lt;!channel&gt;") && text.length < 2000);
  } finally {
    mail.close();
    await slack.close();
  }
});

Deno.test("nothing is sent to a mail server that does not encrypt, unless that is wanted", async () => {
  const mail = mailServer();
  try {
    const to = receiver({ email: ["ops@example.com"] }, {
      port: mail.port,
      user: "u",
      password: "mail-secret",
    });
    const trouble = await to.send(DELIVERY, never());
    assertMatch(String(trouble), /^the mail server: E\w+$/);
    assertEquals(mail.mails, []);
  } finally {
    mail.close();
  }
});

Deno.test("mail over implicit TLS goes to a server whose certificate is known, and to no other", async () => {
  const code = `
    import { sendMail } from ${JSON.stringify(new URL("../../src/alerts/mail.ts", import.meta.url).href)};
    const smtp = {
      host: "localhost", port: Number(Deno.args[0]), security: "tls",
      user: "u", password: "mail-secret", from: "sluice@example.com",
    };
    const mail = { to: ["ops@example.com"], subject: "s", text: "t", id: "i" };
    console.log(JSON.stringify(await sendMail(smtp, mail, new AbortController().signal)));
  `;
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const ca = new URL("../support/tls/ca.pem", import.meta.url).pathname;
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(file, code);
  try {
    for (const [certificate, good] of [[TLS, true], [OTHER, false]] as const) {
      const mail = mailServer(certificate);
      try {
        const { stdout } = await new Deno.Command(Deno.execPath(), {
          args: [
            "run",
            "-A",
            "--no-check",
            "--no-lock",
            "--config",
            config,
            "--cert",
            ca,
            file,
            `${mail.port}`,
          ],
          stderr: "inherit",
        }).output();
        const said = JSON.parse(new TextDecoder().decode(stdout));
        if (good) assertEquals([said, mail.mails.map(({ to }) => to.length)], [null, [1]]);
        else {
          assertMatch(said, /^the mail server/);
          assertEquals(mail.mails, []);
        }
      } finally {
        mail.close();
      }
    }
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("an alert in words", () => {
  assertEquals(subjectOf(EVENT), "ALERT errors: model a/b");
  assertEquals(
    textOf(EVENT),
    "ALERT errors: model a/b\nerror_rate is 0.5124, and the limit is 0.05. Since 2026-01-01T00:00:00.000Z.\n" +
      "Share of generations that failed.",
  );
  // Of large numbers every digit, or one just above its limit would be told as the limit.
  const large = textOf({ ...EVENT, value: 123_456, above: 123_455.5 });
  assertMatch(large, / is 123456[^\d.].* and the limit is 123455\.5[^\d]/);
  const over = textOf({ ...EVENT, event: "alert.recovered", value: 0, ends: EVENT.starts + 600_000 });
  assertMatch(
    over,
    /^RECOVERED errors: model a\/b\n.*From 2026-01-01T00:00:00\.000Z to 2026-01-01T00:10:00\.000Z \(10 min\)\.$/m,
  );
});

Deno.test("a mail server that goes on talking is left, however short its lines are", async () => {
  for (const line of ["\r\n", "220 x\r\n", "220-x\r\n", "x"]) {
    let sent = 0;
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const bytes = new TextEncoder().encode(line.repeat(65_536 / line.length));
    const flooding = (async () => {
      const connection = await listener.accept();
      try {
        for (;;) sent += await connection.write(bytes);
      } catch {
        connection.close();
      }
    })();
    const to = receiver({ email: ["ops@example.com"] }, { port: listener.addr.port, security: "none" });
    assertMatch(String(await to.send(DELIVERY, never())), /^the mail server: E\w+$/, line);
    await flooding;
    // What is on its way at that time is lost in the buffers of both ends.
    assert(sent < 32 << 20, `${sent} bytes`);
    listener.close();
  }
});
