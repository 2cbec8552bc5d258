/** Destinations of alerts: signed webhooks, Slack webhooks, mail. */
import { sha256Hex } from "../exchange/hashes.ts";
import { postEvent } from "../outgoing/post_event.ts";
import type { AlertEvent } from "../store/mod.ts";
import type { AlertDestination, AlertRule, SmtpConfig } from "./config.ts";
import { subjectOf, textOf } from "./text.ts";

export interface AlertDelivery {
  id: string;
  created: number;
  data: AlertEvent;
}

export interface AlertReceiver {
  /** Equal for the same receiver on every node and after a restart. */
  id: string;
  /** Its path in the configuration. */
  name: string;
  /** Resolves with null if the receiver accepted the delivery, else with the reason. */
  send(delivery: AlertDelivery, signal: AbortSignal): Promise<unknown>;
}

/**
 * The receivers of all rules, without duplicates.
 * @param smtp null: no rule sends mail
 */
export function receiversOf(rules: readonly AlertRule[], smtp: SmtpConfig | null): AlertReceiver[] {
  const found = new Map<string, AlertReceiver>();
  for (const [i, { to }] of rules.entries()) {
    for (const [j, destination] of to.entries()) {
      const id = receiverId(destination);
      if (found.has(id)) continue;
      const send = senderOf(destination, smtp);
      found.set(id, { id, name: `alerts[${i}].to[${j}]`, send });
    }
  }
  return [...found.values()];
}

/** Equal for the same destination in every process and after every restart: deliveries are stored under this id. */
export function receiverId({ webhook, slack, email }: AlertDestination): string {
  const what = JSON.stringify([webhook ?? null, slack ?? null, email ?? null]);
  return `alert-${sha256Hex(what).slice(0, 16)}`;
}

function senderOf(
  { webhook, secret, slack, email }: AlertDestination,
  smtp: SmtpConfig | null,
): AlertReceiver["send"] {
  if (webhook !== undefined) {
    return (delivery, signal) => {
      const { id, data: { event } } = delivery;
      return postEvent(webhook, { body: webhookBody(delivery), delivery: { id, event }, secret, signal });
    };
  }
  if (slack !== undefined) {
    return (delivery, signal) =>
      postEvent(slack, { body: JSON.stringify({ text: slackText(textOf(delivery.data)) }), signal });
  }
  return async (delivery, signal) => {
    if (smtp === null) return "smtp is not configured";
    const { sendMail } = await import("./mail.ts");
    return await sendMail(smtp, {
      to: email ?? [],
      subject: subjectOf(delivery.data),
      text: textOf(delivery.data),
      id: delivery.id,
    }, signal);
  };
}

function webhookBody({ id, created, data: { event, starts, ends, ...data } }: AlertDelivery): string {
  const iso = (time: number) => new Date(time).toISOString();
  return JSON.stringify({
    id,
    type: event,
    created: iso(created),
    data: {
      ...data,
      starts: iso(starts),
      ends: ends === null ? null : iso(ends),
      text: textOf({ event, starts, ends, ...data }),
    },
  });
}

/** Escapes the three characters that have a meaning in Slack's markup. */
function slackText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
