/** The text of a notification. */
import type { AlertEvent } from "../store/mod.ts";
import { alertMetric, type AlertMetricName } from "./metrics.ts";

const MOST = 200;

/** Replaces control characters, which would end a line of the mail's header. */
function clean(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, " ").trim();
  return plain.length > MOST ? `${plain.slice(0, MOST).toWellFormed()}…` : plain;
}

/** One line: started or ended, the rule, and the group. */
export function subjectOf({ event, rule, group }: AlertEvent): string {
  const about = Object.entries(group).map(([name, value]) => `${clean(name)} ${clean(value)}`).join(", ");
  return `${event === "alert.firing" ? "ALERT" : "RECOVERED"} ${clean(rule)}${about && `: ${about}`}`;
}

/** The subject, the measured value and its limit, the times of start and end, and what the metric means. */
export function textOf(event: AlertEvent): string {
  const { metric, above, value, starts, ends } = event;
  const { help, unit } = alertMetric(metric as AlertMetricName);
  const measured = value === null ? "unknown, because there were too few calls" : `${number(value)}${unit}`;
  const is = `${metric} is ${measured}, and the limit is ${number(above)}${unit}.`;
  const time = (at: number) => new Date(at).toISOString();
  const when = ends === null
    ? `Since ${time(starts)}.`
    : `From ${time(starts)} to ${time(ends)} (${lasted(ends - starts)}).`;
  return `${subjectOf(event)}\n${is} ${when}\n${help}`;
}

/** Four significant digits below 1000, otherwise one decimal place, so that a limit is shown as it was configured. */
function number(value: number): string {
  return String(Number(Math.abs(value) < 1000 ? value.toPrecision(4) : value.toFixed(1)));
}

function lasted(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 120
    ? `${seconds} s`
    : seconds < 7200
    ? `${Math.round(seconds / 60)} min`
    : `${Math.round(seconds / 3600)} h`;
}
