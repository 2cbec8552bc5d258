/** Receivers of alerts on loopback: a webhook, Slack's, and a mail server that keeps what it is told. */

export interface Posted {
  headers: Headers;
  text: string;
}

export function posts(answer: (nth: number) => Response = () => new Response(null, { status: 204 })) {
  const got: Posted[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    got.push({ headers: request.headers, text: await request.text() });
    return answer(got.length - 1);
  });
  return { url: `http://127.0.0.1:${server.addr.port}/hook`, got, close: () => server.shutdown() };
}

export interface MailServer {
  port: number;
  /** Commands and mails as they came. */
  mails: { from: string; to: string[]; data: string; auth: string | null }[];
  close(): void;
}

/** Speaks just enough SMTP. @param tls a certificate, to speak it behind TLS from the beginning */
export function mailServer(tls?: { cert: string; key: string }): MailServer {
  const listener = tls
    ? Deno.listenTls({ hostname: "127.0.0.1", port: 0, ...tls })
    : Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const mails: MailServer["mails"] = [];
  (async () => {
    try {
      for await (const connection of listener) void serve(connection, mails).catch(() => {});
    } catch {
      // It was closed.
    }
  })();
  return { port: (listener.addr as Deno.NetAddr).port, mails, close: () => listener.close() };
}

async function serve(connection: Deno.Conn, mails: MailServer["mails"]): Promise<void> {
  const encoder = new TextEncoder();
  const say = (line: string) => connection.write(encoder.encode(`${line}\r\n`));
  let mail = { from: "", to: [] as string[], data: "", auth: null as string | null };
  let inData = false;
  let rest = "";
  await say("220 test");
  for await (const chunk of connection.readable.pipeThrough(new TextDecoderStream())) {
    rest += chunk;
    for (let end = rest.indexOf("\r\n"); end >= 0; end = rest.indexOf("\r\n")) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 2);
      if (inData) {
        if (line !== ".") {
          mail.data += `${line}\n`;
          continue;
        }
        inData = false;
        mails.push(mail);
        mail = { ...mail, to: [], data: "" };
        await say("250 kept");
      } else if (/^EHLO/i.test(line)) await say("250-test\r\n250-AUTH PLAIN\r\n250 8BITMIME");
      else if (/^AUTH PLAIN /i.test(line)) {
        mail.auth = atob(line.slice(11));
        await say("235 ok");
      } else if (/^MAIL FROM:/i.test(line)) {
        mail.from = line.slice(10);
        await say("250 ok");
      } else if (/^RCPT TO:/i.test(line)) {
        mail.to.push(line.slice(8));
        await say("250 ok");
      } else if (/^DATA/i.test(line)) {
        inData = true;
        await say("354 go on");
      } else if (/^QUIT/i.test(line)) {
        await say("221 bye");
        return;
      } else if (/^STARTTLS/i.test(line)) await say("502 not implemented");
      else await say("250 ok");
    }
  }
}
