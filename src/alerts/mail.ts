/** Mail by SMTP. The module is loaded with the first mail, since most gateways send none. */
import type { Buffer } from "node:buffer";
import { createTransport } from "nodemailer";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { SmtpConfig } from "./config.ts";

export interface Mail {
  to: readonly string[];
  subject: string;
  text: string;
  /** Derived from the event: a mail that is sent twice has the same id. */
  id: string;
}

const WAIT_MS = 10_000;
/** The most bytes that a mail server may send during one mail. */
const MOST_ANSWERED = 256 << 10;

/** The package limits the size of each reply, but keeps every unsolicited reply: gigabytes during one mail. */
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

/** Resolves with null if the server accepted the mail, else with the reason. */
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
    // Close the socket immediately: otherwise data is read for as long as the server sends it.
    socketCloseTimeout: 0,
    // Never load attachments or content from files or URLs.
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
    // The message may contain a reply of the server that repeats the password.
    const code = (error as { code?: unknown }).code;
    return typeof code === "string" ? `the mail server: ${code}` : "the mail server did not take it";
  } finally {
    transport.close();
  }
}
