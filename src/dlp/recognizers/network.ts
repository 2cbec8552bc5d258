/** IP and MAC addresses. */

import { DIGIT, isAlphanumeric, isDigit } from "./character_class.ts";
import { luhn, repeated } from "./checksums.ts";
import type { Recognizer, SignTrigger } from "./recognizer.ts";
import { before, isAlone, report, type ScannedView, words } from "./scanned_view.ts";

const IP_WORDS = words(
  "ip(?:v[46])?(?:[ _-]*addr\\w*)?",
  "addr(?:ess)?",
  "hosts?",
  "server",
  "gateway",
  "client",
  "inet6?",
);
const IPV4 = /(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?![\w-]|\.\d)/y;

/** Checks for an IPv4 address that starts at `start`, with a number. */
function scanIpv4(view: ScannedView, start: number): void {
  const prev = view.text.charCodeAt(start - 1);
  if (prev === 46 || prev === 45 || prev === 95 || prev === 58 && view.text.charCodeAt(start - 2) === 58) {
    return;
  }
  if (isAlphanumeric(prev) || prev === 58 && /:[0-9a-f]{0,4}:$/i.test(before(view, start, 7))) return;
  IPV4.lastIndex = start;
  const match = IPV4.exec(view.text);
  if (!match) return;
  const end = start + match[0].length;
  // Loopback, unspecified, netmasks, whole networks, and ranges reserved for documentation.
  const special =
    /^(?:0\.|127\.|255\.255\.|192\.0\.2\.|198\.51\.100\.|203\.0\.113\.)|\.0\.0\.0$/.test(match[0]) ||
    (match[0].endsWith(".0") && view.text.charCodeAt(end) === 47);
  const lead = before(view, start, 40);
  let confidence = special ? 0.4 : 0.6;
  // "version 1.2.3.4" and section numbers have the same form.
  if (/(?:version|ver|v|release|section|chapter|§)[ .:="']*$/i.test(lead)) confidence = 0.3;
  else if (!special && /^\d\.\d\.\d\.\d$/.test(match[0])) confidence = 0.45;
  if (IP_WORDS.test(lead)) confidence = Math.max(confidence + 0.3, 0.6);
  else if (isAlone(view, start, end)) confidence = 0.7;
  else if (view.focused && special) confidence = Math.max(confidence, 0.5);
  if (confidence >= 0.5) report(view, "IP_ADDRESS", start, end, confidence);
}

const MAC = /^[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}(?:(?:[0-9a-f]{2}\1){2})?[0-9a-f]{2}$/i;
const CISCO = /[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(?![\w.])/iy;

/** Checks the hexadecimal groups around a colon; returns their end. */
function scanColons(view: ScannedView, at: number): number {
  const text = view.text;
  let start = at;
  let end = at + 1;
  while (start > 0 && at - start < 5 && isHex(text.charCodeAt(start - 1))) start--;
  while (
    end < text.length && end - start < 64 && (isHex(text.charCodeAt(end)) || text.charCodeAt(end) === 58)
  ) end++;
  if (at - start === 5) {
    while (end < text.length && isHex(text.charCodeAt(end)) || text.charCodeAt(end) === 58) end++;
    return end;
  }
  if (end - start < 3) return at + 1;
  const prev = text.charCodeAt(start - 1);
  if (start > 0 && (isWordOrDot(prev) || prev === 58 && !isLabelEnd(text, start - 1))) return at + 1;
  if (text.charCodeAt(end) === 46) {
    while (end - start < 64 && (isDigit(text.charCodeAt(end)) || text.charCodeAt(end) === 46)) end++;
    if (text.charCodeAt(end - 1) === 46) end--;
  }
  if (text.charCodeAt(end - 1) === 58 && text.charCodeAt(end - 2) !== 58) end--;
  if (end < text.length && isWordOrDot(text.charCodeAt(end)) && text.charCodeAt(end) !== 46) return end;
  const word = text.slice(start, end);
  if (view.wanted.has("MAC_ADDRESS") && MAC.test(word)) {
    report(view, "MAC_ADDRESS", start, end, 0.85);
    return end;
  }
  if (!view.wanted.has("IP_ADDRESS") || !isIpv6(word)) return end;
  if (text.charCodeAt(end) === 37) {
    const zone = /^%[0-9a-zA-Z.]{0,15}[0-9a-zA-Z]/.exec(text.slice(end, end + 20));
    if (zone) end += zone[0].length;
  }
  const groups = word.split(":").filter(Boolean);
  let confidence = /^2001:0?db8:/i.test(word)
    ? 0.4
    : word.includes(".") || groups.length >= 4 || (groups.length >= 3 && /\d/.test(word))
    ? 0.8
    : 0.4;
  if (IP_WORDS.test(before(view, start, 40))) confidence = Math.max(confidence, 0.7);
  else if (isAlone(view, start, end)) confidence = Math.max(confidence, 0.7);
  else if (view.focused) confidence = Math.max(confidence, 0.5);
  if (confidence >= 0.5) report(view, "IP_ADDRESS", start, end, confidence);
  return end;
}

/** A run of six or eight pairs with hyphens, or three groups of four with dots. */
function scanMac(view: ScannedView, start: number, end: number): void {
  const text = view.text;
  const length = end - start;
  if (length === 17 || length === 23) {
    if (MAC.test(text.slice(start, end))) {
      report(view, "MAC_ADDRESS", start, end, 0.85);
    }
  } else if (length === 4 && text.charCodeAt(end) === 46 && text.charCodeAt(start - 1) !== 46) {
    CISCO.lastIndex = start;
    const match = CISCO.exec(text);
    if (match && /[a-f]/i.test(match[0]) || match && /mac|cisco|hw/i.test(before(view, start, 24))) {
      report(view, "MAC_ADDRESS", start, start + 14, 0.7);
    }
  }
}

/** Whether the colon ends a label, as in "IP:2001:db8::1". */
function isLabelEnd(text: string, colon: number): boolean {
  const word = /(?:^|[^\w:.])([A-Za-z_][\w-]{0,23})$/.exec(text.slice(Math.max(0, colon - 25), colon))?.[1];
  return word !== undefined && (word.length > 4 || /[g-z_-]/i.test(word));
}

function isIpv6(word: string): boolean {
  if (!word.includes("::") && word.split(":").length < 7) return false;
  const halves = word.split("::");
  if (halves.length > 2 || word === "::") return false;
  let count = 0;
  for (const half of halves) {
    if (half === "") continue;
    const groups = half.split(":");
    for (let i = 0; i < groups.length; i++) {
      if (groups[i].includes(".")) {
        const octets = groups[i].split(".");
        if (i !== groups.length - 1 || half !== halves[halves.length - 1] || octets.length !== 4) {
          return false;
        }
        if (octets.some((o) => !/^\d{1,3}$/.test(o) || Number(o) > 255)) return false;
        count += 2;
      } else if (/^[0-9a-f]{1,4}$/i.test(groups[i])) count++;
      else return false;
    }
  }
  return halves.length === 2 ? count < 8 : count === 8;
}

function isHex(c: number): boolean {
  return isDigit(c) || (c >= 65 && c < 71) || (c >= 97 && c < 103);
}

function isWordOrDot(c: number): boolean {
  return isAlphanumeric(c) || c === 95 || c === 46;
}

const COLONS: SignTrigger = { on: "sign", signs: ":", scan: scanColons };

export const NETWORK: readonly Recognizer[] = [
  {
    type: "IP_ADDRESS",
    group: "NETWORK",
    aliases: ["IP"],
    triggers: [{ on: "part", first: DIGIT, longest: 3, followedBy: ".", scan: scanIpv4 }, COLONS],
    samples: {
      found: ["from «203.0.113.77», ", "«2001:db8::8a2e:370:7334»", "server «10.20.30.40»"],
      clean: ["version 1.2.3.4", "std::vector", "12:30:45", "1.2.3.4.5"],
    },
  },
  {
    type: "MAC_ADDRESS",
    group: "NETWORK",
    aliases: ["MAC"],
    triggers: [
      COLONS,
      { on: "run", lengths: [17, 23], scan: scanMac },
      { on: "run", lengths: [4], holds: DIGIT, scan: scanMac },
    ],
    samples: {
      found: ["mac «00:1A:2B:3C:4D:5E»", "or «AA-BB-CC-DD-EE-FF»", "hw «001a.2b3c.4d5e»"],
      clean: ["00:1A:2B:3C:4D", "12:30:45", "1234.5678.9012"],
    },
  },
  {
    type: "IMEI",
    group: "NETWORK",
    aliases: ["IMEI_HARDWARE_ID"],
    numbers: [{
      forms: ["99-9{6}-9{6}-9=0.7", "9{15}", "99 9{6} 9{6} 9=0.6"],
      check: (s) => !repeated(s) && luhn(s),
      label: words("imei\\w*", "\\*#06#", "device id\\w*", "handset"),
      plain: 0.3,
    }],
    samples: {
      found: ["IMEI «868932036356090»"],
      clean: ["IMEI 868932036356091"],
    },
  },
];
