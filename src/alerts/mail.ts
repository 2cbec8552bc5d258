/** Mail by SMTP. Loaded with the first mail: most gateways send none. */
import { createTransport } from "nodemailer";
import type { SmtpConfig } from "./config.ts";

export interface Mail {
  to: readonly string[];
  subject: string;
  text: string;
  /** Of the event: mails that are sent twice have the same id. */
  id: string;
}

const WAIT_MS = 10_000;

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
    // Whatever a text holds, nothing is read from files or addresses.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const end = () => transport.close();
  signal.addEventListener("abort", end, { once: true });
  try {
    await transport.sendMail({
      from: { name: "Sluice", address: from },
      to: [...mail.to],
      subject: mail.subject,
      text: mail.text,
      messageId: `<${mail.id}@${from.split("@")[1]}>`,
      headers: { "Auto-Submitted": "auto-generated" },
    });
    return null;
  } catch (error) {
    // Its text may hold what the server said of the password.
    const code = (error as { code?: unknown }).code;
    return typeof code === "string" ? `the mail server: ${code}` : "the mail server did not take it";
  } finally {
    signal.removeEventListener("abort", end);
    transport.close();
  }
}
