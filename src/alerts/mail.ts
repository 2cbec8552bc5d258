/** Mail by SMTP. Loaded with the first mail: most gateways send none. */
import type { Buffer } from "node:buffer";
import { createTransport } from "nodemailer";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { SmtpConfig } from "./config.ts";

export interface Mail {
  to: readonly string[];
  subject: string;
  text: string;
  /** Of the event: mails that are sent twice have the same id. */
  id: string;
}

const WAIT_MS = 10_000;
/** All that a server says while it takes one mail. */
const MOST_ANSWERED = 256 << 10;

/** The package bounds each answer, but keeps any number of those that nobody asked for: gigabytes within the time of one mail. */
function boundAnswers(connection: {
  _onData(chunk: Buffer): void;
  _onResponseTooLarge(): void;
}): void {
  const read = connection._onData;
  const answered = new WeakMap<object, number>();
  connection._onData = function (chunk) {
    const bytes = (answered.get(this) ?? 0) + chunk.length;
    answered.set(this, bytes);
    if (bytes > MOST_ANSWERED) this._onResponseTooLarge();
    else read.call(this, chunk);
  };
}
boundAnswers(SMTPConnection.prototype as never);

/** Null: the server has taken it; else why not. */
export async function sendMail(smtp: SmtpConfig, mail: Mail, signal: AbortSignal): Promise<unknown> {
  const { host, port, security, user, password, from } = smtp;
  const transport = createTransport({
    host,
    port,
    secure: security === "tls",
    requireTLS: security === "starttls",
    ignoreTLS: security === "none",
    ...(user !== null && { auth: { user, pass: password ?? "" } }),
    connectionTimeout: WAIT_MS,
    greetingTimeout: WAIT_MS,
    socketTimeout: WAIT_MS,
    // At once: a server that goes on talking would be read for as long as it does.
    socketCloseTimeout: 0,
    // Whatever a text holds, nothing is read from files or addresses.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail({
      from: { name: "Sluice", address: from },
      to: [...mail.to],
      subject: mail.subject,
      text: mail.text,
      messageId: `<${mail.id}@${from.split("@")[1]}>`,
      headers: { "Auto-Submitted": "auto-generated" },
      signal,
    });
    return null;
  } catch (error) {
    // Its text may hold what the server said of the password.
    const code = (error as { code?: unknown }).code;
    return typeof code === "string" ? `the mail server: ${code}` : "the mail server did not take it";
  } finally {
    transport.close();
  }
}
