/**
 * URLs for posting to a channel of Microsoft Teams without authentication: connectors, and workflows with a
 * signature.
 */

import type { Recognizer } from "../recognizer.ts";
import { report, type ScannedView } from "../scanned_view.ts";

const GUID = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}";
const CONNECTOR = new RegExp(
  `(?:https?://)?(?:[a-z0-9-]{1,63}\\.webhook\\.office\\.com/webhookb2|outlook\\.office(?:365)?\\.com/webhook)/` +
    `${GUID}(?:@|%40)${GUID}/IncomingWebhook/[0-9a-f]{32}/${GUID}(?:/[\\w-]{20,80})?`,
  "gi",
);
const WORKFLOW =
  /(?:https?:\/\/)?[a-z0-9.-]{4,120}\.(?:logic\.azure\.com|powerplatform\.com)(?::\d{2,5})?\/[\w/.-]{0,80}workflows\/[0-9a-f]{32}\/triggers\/[^\s"'<>?]{1,80}\?[^\s"'<>]{0,200}?sig=[\w%-]{30,90}/gi;

/** Maximum length of the URL before and after the word in it. */
const BEFORE = 256;
const BEHIND = 512;

/** "webhook", "webhookb2" and "workflows" before a slash: the URL around it. */
function scanAddress(view: ScannedView, at: number): void {
  const from = Math.max(0, at - BEFORE);
  const around = view.text.slice(from, at + BEHIND);
  const pattern = (view.text.charCodeAt(at + 1) | 32) === 101 ? CONNECTOR : WORKFLOW;
  for (const match of around.matchAll(pattern)) {
    const start = from + match.index;
    if (start > at || start + match[0].length < at) continue;
    report(view, "TEAMS_WEBHOOK", start, start + match[0].length, 0.95);
  }
}

export const TEAMS_WEBHOOK: Recognizer = {
  type: "TEAMS_WEBHOOK",
  group: "SECRET",
  aliases: ["MICROSOFT_TEAMS_WEBHOOK", "MS_TEAMS_WEBHOOK"],
  triggers: [{ on: "run", lengths: [7, 9], begins: "w", followedBy: "/", scan: scanAddress }],
  samples: {
    found: [
      "post to «https://corp.webhook.office.com/webhookb2/5b1c3f0e-9a7d-4c2b-8e6f-1a2b3c4d5e6f@0f9e8d7c-6b5a-4938-a716-253443526170/IncomingWebhook/9f3c7a1be5d04862b7d1e0c4a5f69382/7c1d2e3f-4a5b-6c7d-8e9f-0a1b2c3d4e5f» please",
      "«https://outlook.office.com/webhook/5b1c3f0e-9a7d-4c2b-8e6f-1a2b3c4d5e6f@0f9e8d7c-6b5a-4938-a716-253443526170/IncomingWebhook/9f3c7a1be5d04862b7d1e0c4a5f69382/7c1d2e3f-4a5b-6c7d-8e9f-0a1b2c3d4e5f»",
      "«https://prod-12.westeurope.logic.azure.com:443/workflows/9f3c7a1be5d04862b7d1e0c4a5f69382/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=Qm7LxKp2Qz3f9Zk29xLm4Vb81RtYp03nWe5sHc9Jd2f»",
    ],
    clean: [
      "https://corp.webhook.office.com/webhookb2/ID/IncomingWebhook/HEX/ID",
      "https://outlook.office.com/mail/inbox",
      "https://github.com/a/b/actions/workflows/ci.yml",
    ],
  },
};
